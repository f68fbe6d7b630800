import FoundationEssentials
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy

/// The proxy's live trace equals the trace decoded from its recording.
@Suite struct LiveEqualsOfflineTests {
    let options: DecodingOptions
    let chat: ChatBytes

    init() throws {
        chat = try ChatBytes()
        options = DecodingOptions(.automatic([chat.format]))
    }

    /// Plays random conversations with random pauses; the recorder takes batches now and then.
    private func play(
        _ seed: UInt64, limit: Int = 64 << 20, resets: Bool = false, longestPause: Int64 = 700_000_000,
        options: DecodingOptions? = nil, capture: any RecordOutput = MemoryOutput(),
        connections: Int = 0
    ) throws -> (trace: [TraceLine], summary: Summary, capture: [UInt8], relayed: Int) {
        var generator = SeededGenerator(seed: seed)
        let script = ScriptedRecording(limit: limit, options: options ?? self.options, chat: chat, capture: capture)
        for _ in 0..<connections { try script.open(size: 4_000, longest: 20_000, using: &generator) }
        for _ in 0..<max(300, connections * 20) {
            script.clock.pass(Bool.random(using: &generator) ? 0 : .random(in: 0...longestPause, using: &generator))
            let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
            let connection = script.connections.randomElement(using: &generator)
            switch (Int.random(in: 0..<40, using: &generator), connection) {
            case (0...1, _), (_, nil): try script.open(size: 12_000, longest: 150_000, using: &generator)
            case (2, let connection?): script.finish(.fin, on: connection, from: direction)
            case (3, let connection?) where resets: script.finish(.reset, on: connection, from: direction)
            case (4...6, _): script.record()
            case (7, let connection?): script.toggleHold(on: connection, from: direction)
            case (_, let connection?):
                let sizes = [1, 60, 500, 5_000, 65_495, 65_496, 200_000]
                let most = sizes.randomElement(using: &generator) ?? 1
                _ = script.pass(.random(in: 1...most, using: &generator), on: connection, from: direction)
            }
        }
        script.record()
        // A connection that is half-closed at the end has a test of its own.
        for connection in script.connections where script.isHalfClosed(connection) {
            for direction in Direction.allCases { script.finish(.fin, on: connection, from: direction) }
        }
        script.clock.pass(.random(in: 0...2_000_000_000, using: &generator))
        let relayed = script.relayed.values.reduce(0) { $0 + $1.fromClient + $1.fromServer }
        let (trace, summary, capture) = try script.end()
        return (trace, summary, capture, relayed)
    }

    @Test func conversationsWithGarbageSplitsAndBigFrames() async throws {
        for round in UInt64(0)..<8 {
            await Task.yield()
            let seed = UInt64.random(in: 0...UInt64.max) &+ round
            let live = try play(seed)
            let offline = DecodedCapture(live.capture, options: options)
            #expect(offline.damage == nil, "seed \(seed)")
            let (left, right) = (ComparableTrace(live.trace), ComparableTrace(try offline.lines()))
            #expect(left.differences(to: right) == [], "seed \(seed)")
            let isSame = left == right
            #expect(isSame, "seed \(seed)")
            #expect(live.summary.total == offline.summary.total, "seed \(seed)")
            #expect(live.summary.total.bytes.bytes == live.relayed && live.summary.dropped == 0, "seed \(seed)")
        }
    }

    /// The files together contain what one file would; each of them is readable alone.
    @Test(arguments: [false, true]) func rotation(drops: Bool) async throws {
        let options = drops ? DecodingOptions(.fixed(chat.format)) : options
        for round in UInt64(0)..<6 {
            await Task.yield()
            let seed = UInt64.random(in: 0...UInt64.max) &+ round
            var generator = SeededGenerator(seed: seed)
            let files = FileSeries(
                limit: .random(in: 1_000...1_000_000, using: &generator),
                interval: .milliseconds(.random(in: 1...20_000, using: &generator)))
            let live = try play(
                seed, limit: drops ? 60_000 : 64 << 20, resets: round % 2 == 0, options: options, capture: files)
            #expect(files.all.count > 1, "seed \(seed)")
            let offline = DecodedCapture(merging: files.all, options: options)
            #expect(offline.damage == nil, "seed \(seed)")
            expectSame(try ComparableTrace(renumbering: live.trace), ComparableTrace(try offline.lines()), seed)
            var packets = 0
            for file in files.all {
                let alone = DecodedCapture(file, options: options)
                #expect(alone.damage == nil, "seed \(seed)")
                packets += alone.counters.packets
                let isWithin = file.count <= files.limit || alone.counters.packets <= 1
                #expect(isWithin, "seed \(seed): \(file.count) bytes, \(files.limit) are allowed")
            }
            #expect(packets == offline.counters.packets, "seed \(seed)")
        }
    }

    /// All at once: 64 connections, a series of files, dropped chunks, resets.
    @Test func manyConnectionsInManyFilesWithDroppedChunks() throws {
        let options = DecodingOptions(.fixed(chat.format))
        let seed = UInt64.random(in: 0...UInt64.max)
        let files = FileSeries(limit: 200_000, interval: .milliseconds(10_000_000))
        let live = try play(
            seed, limit: 100_000, resets: true, longestPause: 10_000_000, options: options, capture: files,
            connections: 64)
        #expect(live.summary.total.connections >= 64 && live.summary.dropped > 0 && files.all.count > 2, "seed \(seed)")
        try expectAccounted(live, seed)
        let offline = DecodedCapture(merging: files.all, options: options)
        #expect(offline.damage == nil, "seed \(seed)")
        expectSame(try ComparableTrace(renumbering: live.trace), ComparableTrace(try offline.lines()), seed)
    }

    @Test func resets() async throws {
        for round in UInt64(0)..<8 {
            await Task.yield()
            let seed = UInt64.random(in: 0...UInt64.max) &+ round
            let live = try play(seed, resets: true)
            let offline = DecodedCapture(live.capture, options: options)
            let (left, right) = (ComparableTrace(live.trace), ComparableTrace(try offline.lines()))
            expectSame(left, right, seed)
        }
    }

    /// The format is requested: data after a gap comes later offline than live, after bytes of the other direction, and detection
    /// depends on the first data of both directions.
    @Test func droppedChunks() async throws {
        let options = DecodingOptions(.fixed(chat.format))
        for round in UInt64(0)..<12 {
            await Task.yield()
            let seed = UInt64.random(in: 0...UInt64.max) &+ round
            let live = try play(seed, limit: 60_000, resets: round % 2 == 0, options: options)
            #expect(live.summary.dropped > 0)
            try expectAccounted(live, seed)
            let offline = DecodedCapture(live.capture, options: options)
            let left = try ComparableTrace(renumbering: live.trace)
            let right = ComparableTrace(try offline.lines())
            expectSame(left, right, seed)
        }
    }

    /// Expects the same lines per connection and direction, and the same findings.
    private func expectSame(_ live: ComparableTrace, _ offline: ComparableTrace, _ seed: UInt64) {
        let differences = "seed \(seed): \(live.differences(to: offline))"
        let (sameLines, sameFindings) = (live.lines == offline.lines, live.findings == offline.findings)
        #expect(sameLines && sameFindings, "\(differences)")
    }

    @Test func whatIsHalfClosedAtTheEndIsStillOpen() throws {
        var generator = SeededGenerator(seed: 1)
        let script = ScriptedRecording(limit: 1 << 20, options: options, chat: chat)
        try script.open(size: 1_000, longest: 100, using: &generator)
        let connection = try #require(script.connections.first)
        _ = script.pass(300, on: connection, from: .fromClient)
        script.finish(.fin, on: connection, from: .fromClient)
        _ = script.pass(300, on: connection, from: .fromServer)
        let live = try script.end()
        let closed = try #require(live.trace.first { $0.event == "closed" })
        #expect(closed["reason"] == "end-of-input" && closed["by"] == nil)
        let offline = DecodedCapture(live.capture, options: options)
        let differences = ComparableTrace(live.trace).differences(to: ComparableTrace(try offline.lines()))
        #expect(differences == [])
    }

    @Test func realSocketsManyAtOnce() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let folder = try Folder()
        let count = 12
        for number in 0..<count {
            for direction in Direction.allCases {
                let size = Int.random(in: 500...400_000, using: &generator)
                let bytes = try chat.stream(of: size, longest: 200_000, from: direction, using: &generator)
                _ = try folder.write(bytes, to: "\(number)-\(direction.sender)")
            }
        }
        let ends = try await Ends("conversations", folder.url.path, "\(count)")
        let options = DecodingOptions(.automatic(try BuiltInFormats.all()))
        let proxy = try await RunningProxy(to: ends.server, options: options)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        let recording = try await proxy.stop()
        // A server that resets immediately may be one that could not be reached; its capture can only show that it reset.
        let failed = Set(try recording.lines().filter { $0["reason"] == "connect-failed" }.map(\.connection))
        let live = ComparableTrace(try recording.lines().filter { !failed.contains($0.connection) })
        let offline = DecodedCapture(recording.capture, options: options)
        #expect(offline.damage == nil)
        let right = ComparableTrace(try offline.lines().filter { !failed.contains($0.connection) })
        expectSame(live, right, seed)
        #expect(recording.summary.total.bytes == offline.summary.total.bytes, "seed \(seed), \(seen)")
        #expect(recording.summary.total.connections == count)
        let expected = [
            "fin by client", "fin by server", "reset by client", "reset by server", "connect-failed by server",
        ]
        #expect(Set(try recording.endings()).isSubset(of: expected))
    }

    /// Dropped data is reported exactly: in total, the bytes relayed and not recorded, of which those before the last recorded
    /// byte are missing.
    private func expectAccounted(
        _ live: (trace: [TraceLine], summary: Summary, capture: [UInt8], relayed: Int), _ seed: UInt64
    ) throws {
        var droppedBytes: [String: Set<Range<Int>>] = [:]
        var missing: [String: Int] = [:]
        for line in live.trace {
            let key = "\(line.connection) \(line.from)"
            let (offset, length) = (line[number: "offset"] ?? 0, line[number: "length"] ?? 0)
            switch line.event {
            case "dropped": droppedBytes[key, default: []].insert(offset..<offset + length)
            case "missing": missing[key, default: 0] += length
            case "closed":
                for side in ["client", "server"] {
                    func count(_ name: String) -> Int { line.number(name, of: side) ?? -1 }
                    let parts = count("framed") + count("unframed") + count("padding") + count("missing")
                    #expect(count("bytes") == parts, "seed \(seed)")
                    let key = "\(line.connection) \(side)"
                    let before = droppedBytes[key, default: []].filter { $0.upperBound <= count("bytes") }
                    #expect(count("missing") == before.reduce(0) { $0 + $1.count }, "seed \(seed), \(key)")
                    #expect(missing[key, default: 0] == count("missing"), "seed \(seed), \(key)")
                }
            default: break
            }
        }
        let all = droppedBytes.values.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        // Data on connections that opened and closed unrecorded has no line of its own.
        let isAll = live.summary.unrecorded == 0 ? all == live.summary.dropped : all <= live.summary.dropped
        #expect(isAll, "seed \(seed)")
        let total = live.summary.total.bytes
        #expect(total.bytes - total.missing + live.summary.dropped == live.relayed, "seed \(seed)")
    }
}
