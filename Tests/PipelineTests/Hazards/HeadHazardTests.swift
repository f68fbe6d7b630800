import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `im-json`: the inputs on which its published receivers get stuck.
@Suite struct HeadHazardTests {
    private static let time = Timestamp(nanoseconds: 0)

    private func frame(_ body: [UInt8]) throws -> [UInt8] {
        try HazardRounds.frame(
            "im-json", .fromServer, [Field("type", .text("txt")), Field("sourceClient", .text("CinentA"))], body)
    }

    /// Letters, and sometimes what looks like the end of a head.
    private func body(using generator: inout SeededGenerator) -> [UInt8] {
        HazardRounds.body(12, using: &generator)
            + (Int.random(in: 0..<6, using: &generator) == 0 ? Array("\r\n{\r\nz".utf8) : [])
    }

    /// Reads of a stream of frames, with bytes in between that are not frames.
    private func chunks(
        _ others: [String], oftenEmpty: Bool = false, using generator: inout SeededGenerator
    ) throws -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        for _ in 0..<5 {
            if Int.random(in: 0..<7, using: &generator) == 0, let other = others.randomElement(using: &generator) {
                pieces.append(Array(other.utf8))
            }
            let isEmpty = oftenEmpty && Int.random(in: 0..<8, using: &generator) == 0
            pieces.append(try frame(isEmpty ? [] : [0x62] + body(using: &generator)))
        }
        if Bool.random(using: &generator) {
            pieces[pieces.count - 1].removeLast(Int.random(in: 1..<pieces[pieces.count - 1].count, using: &generator))
        }
        return HazardRounds.cut(pieces, using: &generator)
    }

    /// The position where the published receiver first differs from a fixed one.
    private func firstDifference(
        _ hazard: Hazard, _ chunks: [[UInt8]], _ traced: HazardRounds.Traced
    ) -> Int? {
        var published = PublishedHeadReader(hazards: [hazard.rawValue])
        var mended = PublishedHeadReader(hazards: [])
        var made: [PeerInput] = []
        var right: [PeerInput] = []
        for chunk in chunks {
            made += published.receive(chunk.span.bytes, at: Self.time)
            right += mended.receive(chunk.span.bytes, at: Self.time)
        }
        made += published.finish()
        right += mended.finish()
        let same = zip(made, right).prefix { $0 == $1 }.count
        var at = place(of: right.prefix(same), traced)
        // Whitespace before a head is read with it.
        let bytes = chunks.flatMap { $0 }
        if let next = traced.items.first(where: { $0.offset > at }), next.index != nil, same < right.count,
            bytes[at..<next.offset].allSatisfy({ $0 == 0x20 || $0 == 0x0a })
        {
            at = next.offset
        }
        #expect(place(of: right[...], traced) == traced.items.last.map { $0.offset + $0.length }, "mended, it is right")
        return same < max(made.count, right.count) ? at : nil
    }

    /// The number of stream bytes that inputs cover.
    private func place(of inputs: ArraySlice<PeerInput>, _ traced: HazardRounds.Traced) -> Int {
        inputs.reduce(0) { at, input in
            switch input {
            case .unframed(let byteCount, _): return at + byteCount
            // Whitespace before a head belongs to no frame, but to the data that the receiver reads.
            case .message:
                return traced.items.first { $0.offset >= at && $0.index != nil }.map { $0.offset + $0.length } ?? at
            case .note, .crash: return at
            }
        }
    }

    private func check(_ hazard: Hazard, _ chunks: [[UInt8]], _ seed: UInt64) throws -> Bool {
        let direction: Direction = seed % 2 == 0 ? .fromServer : .fromClient
        let traced = try HazardRounds.trace(hazard, "im-json", chunks, from: direction)
        let wrong = firstDifference(hazard, chunks, traced)
        #expect(
            traced.first == wrong,
            "\(hazard), seed \(seed): \(traced), \(chunks.map { String(decoding: $0.prefix(300), as: UTF8.self) })")
        return wrong != nil
    }

    /// Possible bytes between frames: invalid JSON, JSON without a valid size, whitespace.
    private static let others = [
        "xyz", "xyz\r\n", "\r\n", " \n", " \r\n", "[1]\r\n", "{\"size\":\"3\"", "{\"a\":}\r\n", "{}{}\r\n",
        "{\"type\":\"txt\"}\r\n", " {\"type\":\"txt\"}\r\n", "{\"size\":\"-4\"}\r\n", "{\"size\":\"abc\"}\r\n",
        "{\"size\":1.5}\r\n", "{\"size\":\"99999999999\"}\r\n", "{\"size\":0.5}\r\n", "{",
    ]

    @Test(arguments: [Hazard.zeroSizeBody, .badHead])
    func heads(hazard: Hazard) async throws {
        try await HazardRounds.rounds(300) { generator, seed in
            let chunks = try chunks(Self.others, oftenEmpty: hazard == .zeroSizeBody, using: &generator)
            return try check(hazard, chunks, seed)
        }
    }

    @Test func headsWithoutEnd() async throws {
        try await HazardRounds.rounds(40) { generator, seed in
            let count = Int.random(in: 0..<3, using: &generator) == 0 ? 30_000 : 70_000
            let filler = String(repeating: Bool.random(using: &generator) ? "x" : " ", count: count)
            let others = [
                filler, filler + "\r\n", "{" + filler, "{" + filler + "\"size\":\"3\"}\r\nabc",
                "{\"size\":\"99999999999\"}\r\n", filler + filler,
            ]
            return try check(.endlessHead, try chunks(others, using: &generator), seed)
        }
    }

    /// Each connection is cut somewhere; a published client reconnects, and keeps its partial head.
    @Test func headsThatOutliveTheirConnection() async throws {
        try await HazardRounds.rounds { generator, seed in
            var events: [HazardRounds.Event] = []
            var deaf: [Int] = []
            let next = try (0..<3).map { _ in try frame(body(using: &generator)) }
            for number in 1...4 {
                var stream = try (0..<2).flatMap { _ in try frame(body(using: &generator)) }
                if Bool.random(using: &generator) {
                    stream.removeLast(Int.random(in: 1..<stream.count, using: &generator))
                }
                let memory = PublishedHeadReader.Memory()
                var reader = PublishedHeadReader(hazards: [Hazard.staleHead.rawValue], memory: memory)
                for chunk in HazardRounds.cut([stream], using: &generator) {
                    events.append(.read(chunk, .fromServer, connection: number))
                    _ = reader.receive(chunk.span.bytes, at: Self.time)
                }
                events.append(.end(connection: number))
                var again = PublishedHeadReader(hazards: [Hazard.staleHead.rawValue], memory: memory)
                var right = PublishedHeadReader(hazards: [])
                let made = next.flatMap { again.receive($0.span.bytes, at: Self.time) }
                if made != next.flatMap({ right.receive($0.span.bytes, at: Self.time) }) { deaf.append(number) }
            }
            let traced = try HazardRounds.trace(.staleHead, "im-json", events)
            #expect(traced.reported.map(\.connection) == deaf, "seed \(seed): \(traced)")
            #expect(traced.reported.allSatisfy { $0.index == nil && traced.reasons[$0.offset] == "incomplete" })
            return !deaf.isEmpty
        }
    }
}
