import Framing
@testable import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// The memory held by all connections together never exceeds the budget, and evictions are reported.
@Suite struct MemoryLimitTests {
    private let loopback = IPAddress(v4: 0x7f00_0001)

    private func time(_ microseconds: Int) -> Timestamp {
        Timestamp(seconds: 1_795_248_000, nanoseconds: Int64(microseconds) * 1_000)
    }

    private func open(_ number: Int, of decoder: Decoder, at now: Int) -> any ConnectionReceiver {
        decoder.open(
            Opening(
                number: number, time: time(now), client: Endpoint(loopback, UInt16(10_000 + number)),
                server: Endpoint(loopback, 9_000)))
    }

    private func options(_ format: Format?, limit: Int) throws -> DecodingOptions {
        var options = DecodingOptions(try format.map { .fixed($0) } ?? .automatic(BuiltInFormats.all()))
        options.memoryLimit = limit
        options.totalMemoryLimit = limit
        return options
    }

    private static func frame(_ length: Int) -> [UInt8] {
        [UInt8(length >> 24 & 255), UInt8(length >> 16 & 255), UInt8(length >> 8 & 255), UInt8(length & 255)]
            + [UInt8](repeating: 7, count: length)
    }

    /// Random conversations of frames that are long, truncated, or invalid.
    @Test(arguments: ["length-field", "delimiter", "json-sequence", "marker", "auto"])
    func itIsNeverExceeded(_ name: String) throws {
        let format = name == "auto" ? nil : try BuiltInFormats.format(named: name)
        let limit = 40_000
        var evictions = 0
        for seed in UInt64(1)...5 {
            var generator = SeededGenerator(seed: seed)
            let output = MemoryOutput()
            let decoder = Decoder(
                try options(format, limit: limit),
                sinks: [NDJSONWriter(to: output, source: "", tool: "", bodyLimit: 0)])
            var open: [Int: any ConnectionReceiver] = [:]
            var bytes: [Int: Int] = [:]
            var (now, number) = (0, 0)
            func close(_ number: Int) {
                open.removeValue(forKey: number)?.closed(Closing(reason: .fin, by: nil, time: time(now)))
            }
            for _ in 0..<600 {
                now += 10
                decoder.advance(to: time(now))
                let any = open.keys.sorted().randomElement(using: &generator)
                switch Int.random(in: 0..<20, using: &generator) {
                case 0 where open.count < 40:
                    number += 1
                    open[number] = self.open(number, of: decoder, at: now)
                case 1:
                    if let any { close(any) }
                case 2:
                    guard let any else { continue }
                    open[any]?.missing(100, from: .fromClient, at: time(now))
                    bytes[any, default: 0] += 100
                default:
                    guard let any else { continue }
                    let count = [1, 50, 600].randomElement(using: &generator) ?? 1
                    var chunk: [UInt8]
                    switch Int.random(in: 0..<6, using: &generator) {
                    case 0: chunk = [0, 0, 0x80, 0] + [UInt8](repeating: 9, count: count)
                    case 1: chunk = Array("{\"a\":".utf8) + [UInt8](repeating: 0x20, count: count)
                    case 2: chunk = Array("ab".utf8) + [UInt8](repeating: 0x63, count: count)
                    case 3 where name == "auto": chunk = generator.bytes(count)
                    default: chunk = [UInt8](repeating: 0x61, count: 10 * count)
                    }
                    if Int.random(in: 0..<40, using: &generator) == 0 { chunk.append(0x0a) }
                    let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
                    open[any]?.received(chunk.span.bytes, from: direction, at: time(now), packet: 1)
                    bytes[any, default: 0] += chunk.count
                }
                #expect(decoder.heldMemory <= limit, "seed \(seed)")
            }
            for any in open.keys.sorted() { close(any) }
            decoder.finish()
            decoder.flush()
            #expect(decoder.heldMemory == 0, "seed \(seed): what is over holds nothing")
            let lines = try traceLines(output.text)
            for line in lines where line.event == "closed" {
                let sum = Direction.allCases.reduce(0) { sum, direction in
                    sum
                        + ["framed", "unframed", "padding", "missing"].reduce(0) {
                            $0 + (line.number($1, of: direction.sender) ?? 0)
                        }
                }
                #expect(sum == bytes[line.connection, default: 0], "seed \(seed): every byte is accounted for")
            }
            let found = lines.filter { $0["kind"] == "memory-limit" }.count
            #expect((found > 0) == decoder.hasReachedMemoryLimit, "seed \(seed)")
            evictions += found
        }
        #expect(evictions > 0)
    }

    /// The largest holder is evicted, whichever connection sends; its frame is unframed, and the next one is a frame again.
    @Test func theLargestIsEvictedAndFramingGoesOnAfterItsFrame() throws {
        let format = try #require(try BuiltInFormats.format(named: "length-field"))
        let output = MemoryOutput()
        let decoder = Decoder(
            try options(format, limit: 100_000), sinks: [NDJSONWriter(to: output, source: "", tool: "", bodyLimit: 0)])
        let (large, small) = (open(1, of: decoder, at: 0), open(2, of: decoder, at: 0))
        let (long, short) = (Self.frame(90_000), Self.frame(50_000))
        func send(_ connection: any ConnectionReceiver, _ bytes: ArraySlice<UInt8>, _ now: Int) {
            decoder.advance(to: time(now))
            let bytes = Array(bytes)
            connection.received(bytes.span.bytes, from: .fromClient, at: time(now), packet: 0)
        }
        send(large, long[..<60_000], 1)
        send(small, short[..<45_000], 2)
        send(large, long[60_000...] + Self.frame(5), 3)
        send(small, short[45_000...], 4)
        for connection in [large, small] { connection.closed(Closing(reason: .fin, by: nil, time: time(5))) }
        decoder.finish()
        decoder.flush()
        let lines = try traceLines(output.text)
        let runs = lines.filter { $0.event == "unframed" }
        #expect(runs.allSatisfy { $0["reason"] == "memory-limit" && $0.connection == 1 })
        #expect(runs.reduce(0) { $0 + ($1[number: "length"] ?? 0) } == long.count)
        #expect(runs.last?["detail"]?.contains("framing goes on at offset 90004") == true)
        let frames = lines.filter { $0.event == "frame" }
        #expect(frames.map { $0.connection } == [1, 2])
        #expect(frames.map { $0[number: "offset"] } == [90_004, 0])
        let findings = lines.filter { $0["kind"] == "memory-limit" }
        #expect(findings.count == 1 && findings[0].connection == 1 && findings[0]["severity"] == "warning")
        #expect(findings[0].text.contains(#""evicted":"frame","held":60000,"limit":100000"#), "\(findings[0].text)")
    }

    /// Gaps within and after the rest of an evicted frame.
    @Test func aGapWithinWhatIsGivenUpLosesNoPlace() throws {
        let format = try #require(try BuiltInFormats.format(named: "length-field"))
        let output = MemoryOutput()
        let decoder = Decoder(
            try options(format, limit: 50_000), sinks: [NDJSONWriter(to: output, source: "", tool: "", bodyLimit: 0)])
        let connection = open(1, of: decoder, at: 0)
        let (long, next) = (Self.frame(90_000), Self.frame(5))
        for (index, part) in [long[..<60_000], long[70_000...], next[...]].enumerated() {
            let bytes = Array(part)
            if index == 1 { connection.missing(10_000, from: .fromClient, at: time(1)) }
            connection.received(bytes.span.bytes, from: .fromClient, at: time(1 + index), packet: 0)
        }
        connection.closed(Closing(reason: .fin, by: nil, time: time(5)))
        decoder.finish()
        decoder.flush()
        let lines = try traceLines(output.text)
        #expect(lines.filter { $0.event == "frame" }.map { $0[number: "offset"] } == [90_004])
        #expect(lines.filter { $0.event == "missing" }.map { $0[number: "offset"] } == [60_000])
    }

    /// What is held of a handshake counts after a gap, too, and when its connection is idle.
    @Test(arguments: [true, false]) func heldHandshakesCountWhateverFollows(isGap: Bool) throws {
        var options = try options(nil, limit: 1 << 20)
        options.tls = TLSDecoding()
        let decoder = Decoder(options, sinks: [])
        let connection = open(1, of: decoder, at: 0)
        let bytes: [UInt8] = [22, 3, 1, 0x27, 0x10, 1, 0, 0xfd, 0xe8, 3, 3] + [UInt8](repeating: 7, count: 5_000)
        connection.received(bytes.span.bytes, from: .fromClient, at: time(0), packet: 1)
        let before = decoder.heldMemory
        #expect(before >= bytes.count)
        if isGap {
            connection.missing(100, from: .fromServer, at: time(1))
        } else {
            connection.noticed(.idle, from: .fromClient, at: time(1), packet: 1)
        }
        #expect(decoder.heldMemory >= bytes.count, "\(before), \(decoder.heldMemory)")
        connection.closed(Closing(reason: .fin, by: nil, time: time(100)))
        decoder.finish()
        #expect(decoder.heldMemory == 0)
    }

    /// Conflicts that wait for a format hold both of their contents.
    @Test func noticesThatWaitForAFormatAreHeldWithinTheLimit() throws {
        let (limit, output) = (200_000, MemoryOutput())
        let decoder = Decoder(
            try options(nil, limit: limit), sinks: [NDJSONWriter(to: output, source: "", tool: "", bodyLimit: 0)])
        var connections: [any ConnectionReceiver] = []
        for number in 1...20 {
            let connection = open(number, of: decoder, at: number)
            let bytes: [UInt8] = [0x80, 1, 2]
            connection.received(bytes.span.bytes, from: .fromClient, at: time(number), packet: 1)
            let (kept, other) = ([UInt8](repeating: 7, count: 10_000), [UInt8](repeating: 8, count: 10_000))
            for _ in 0..<5 {
                connection.noticed(
                    .conflict(offset: 0, kept: kept, other: other), from: .fromClient, at: time(number), packet: 2)
                #expect(decoder.heldMemory <= limit)
            }
            connections.append(connection)
        }
        for connection in connections { connection.closed(Closing(reason: .fin, by: nil, time: time(100))) }
        decoder.finish()
        decoder.flush()
        let lines = try traceLines(output.text)
        #expect(lines.count { $0["kind"] == "conflict" } == 100, "none is lost")
        #expect(lines.contains { $0["kind"] == "memory-limit" } && decoder.heldMemory == 0)
    }

    /// What is held until it is known whether TLS can be decrypted counts; a connection that gives it up is passed on as it is.
    @Test func handshakesAreHeldWithinTheLimit() throws {
        let limit = 300_000
        let output = MemoryOutput()
        var options = try options(nil, limit: limit)
        options.tls = TLSDecoding()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "", tool: "", bodyLimit: 0)])
        // A hello of 65,000 bytes, in records of 10,000; its end never comes.
        let record: [UInt8] = [22, 3, 1, 0x27, 0x10]
        let hello: [UInt8] = [1, 0, 0xfd, 0xe8, 3, 3]
        var connections: [any ConnectionReceiver] = []
        for number in 1...20 {
            let connection = open(number, of: decoder, at: number)
            for part in 0..<4 {
                let bytes =
                    record + (part == 0 ? hello : []) + [UInt8](repeating: 7, count: 10_000 - (part == 0 ? 6 : 0))
                connection.received(bytes.span.bytes, from: .fromClient, at: time(number), packet: 1)
                #expect(decoder.heldMemory <= limit)
            }
            connections.append(connection)
        }
        for connection in connections { connection.closed(Closing(reason: .fin, by: nil, time: time(100))) }
        decoder.finish()
        decoder.flush()
        #expect(decoder.heldMemory == 0)
        let lines = try traceLines(output.text)
        let evicted = lines.filter { $0["kind"] == "memory-limit" && $0.text(of: "data", "evicted") == "handshake" }
        #expect((1...20).contains(evicted.count), "\(evicted.count)")
        let bytes = lines.filter { $0.event == "closed" }.map { $0.number("unframed", of: "client") ?? 0 }
        #expect(bytes == [Int](repeating: 4 * 10_005, count: 20), "\(bytes)")
    }
}
