import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `im-magic`: frames without body, lost bytes, excessive lengths, wide ids.
@Suite struct MagicHazardTests {
    private static let time = Timestamp(nanoseconds: 0)

    private func frame(_ direction: Direction, _ body: [UInt8]) throws -> [UInt8] {
        var fields = [Field("command", .integer(3))]
        if direction == .fromClient { fields += [Field("from", .text("1001")), Field("to", .text("1002"))] }
        return try HazardRounds.frame("im-magic", direction, fields, body)
    }

    @Test func framesWithoutBody() async throws {
        try await HazardRounds.rounds { generator, seed in
            let bodies = (0..<4).map { _ in
                Bool.random(using: &generator) ? [] : HazardRounds.body(9, using: &generator)
            }
            let chunks = HazardRounds.cut(try bodies.map { try frame(.fromServer, $0) }, using: &generator)
            var receiver = PublishedMagicReader(of: .fromServer, hazards: [Hazard.emptyBody.rawValue])
            var right = PublishedMagicReader(of: .fromServer, hazards: [])
            var (made, due) = (0, 0)
            var failure: Int?
            // It is late, not wrong: after each read it has less than a fixed one.
            for chunk in chunks where failure == nil {
                made += receiver.receive(chunk.span.bytes, at: Self.time).count
                due += right.receive(chunk.span.bytes, at: Self.time).count
                if made < due { failure = made }
            }
            let reported = try HazardRounds.trace(.emptyBody, "im-magic", chunks, from: .fromServer).frames
            #expect(reported.first == failure, "seed \(seed): \(reported), \(bodies)")
            return failure != nil
        }
    }

    /// The position where a published receiver first treats other bytes as a frame, or waits forever.
    private func firstMisreading(
        _ hazard: Hazard, _ chunks: [[UInt8]], from direction: Direction, _ traced: HazardRounds.Traced
    ) -> Int? {
        let head = direction == .fromClient ? 62 : 11
        var receiver = PublishedMagicReader(of: direction, hazards: [hazard.rawValue])
        var at = 0
        for input in chunks.flatMap({ receiver.receive($0.span.bytes, at: Self.time) }) {
            switch input {
            case .unframed(let byteCount, _): at += byteCount
            case .message(let message):
                let frame = traced.items.first { $0.offset == at }
                guard frame?.index != nil, frame?.length == head + message.body.count else { return at }
                at += head + message.body.count
            case .note, .crash: continue
            }
        }
        // With less than a header it has not been mistaken yet; and a frame that the end cut is none of its mistakes.
        guard case .unframed(let held, _)? = receiver.finish().first else { return nil }
        return held >= head && traced.reasons[at] != "incomplete" ? at : nil
    }

    @Test(arguments: [Hazard.noMagicCheck, .noLengthLimit])
    func streamsOutOfStep(hazard: Hazard) async throws {
        let limit = 16 << 20
        try await HazardRounds.rounds(300) { generator, seed in
            let direction: Direction = Bool.random(using: &generator) ? .fromServer : .fromClient
            let head = direction == .fromClient ? 62 : 11
            var frames = try (0..<4).map { _ in try frame(direction, HazardRounds.body(30, using: &generator)) }
            var isDamaged = false
            for index in 1..<frames.count {
                let before = frames[index]
                defer { isDamaged = isDamaged || frames[index] != before }
                switch Int.random(in: 0..<14, using: &generator) {
                case 0: frames[index].remove(at: Int.random(in: 0..<frames[index].count, using: &generator))
                case 1: frames[index] += HazardRounds.body(20, using: &generator)
                case 2, 3:
                    // Out of sync, such a long frame is not credible.
                    let lengths = [limit - head + 1, limit, 1 << 30, 0xffff_ffff, 500, isDamaged ? 0 : limit - head]
                    let length = lengths.randomElement(using: &generator) ?? 0
                    frames[index].replaceSubrange(
                        head - 4..<head, with: (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) })
                default: break
                }
            }
            let chunks = HazardRounds.cut(frames, using: &generator)
            let traced = try HazardRounds.trace(hazard, "im-magic", chunks, from: direction)
            let wrong = firstMisreading(hazard, chunks, from: direction, traced)
            #expect(traced.first == wrong, "\(hazard), seed \(seed): \(traced), \(chunks)")
            return wrong != nil
        }
    }

    private func messages(using generator: inout SeededGenerator) -> [MagicMessage] {
        let ids = ["1001", "1002", "7", "1234567890123456789012345", "1003", "1004", "用户7", "é1", "1😀", "李雷和韩梅梅"]
        return (0..<4).map { _ in
            let isPlain = Int.random(in: 0..<3, using: &generator) > 0
            let ids = isPlain ? ["1001", "1002"] : ids
            let (from, to) = (ids.randomElement(using: &generator), ids.randomElement(using: &generator))
            return MagicMessage(
                .chat, from: from ?? "1", to: to ?? "2", body: [0x7b] + HazardRounds.body(40, using: &generator))
        }
    }

    /// Correct frames: a finding reports for each that the published client would have written it differently.
    @Test func framesWithWideIDs() async throws {
        let setup = try PeerSetup(MagicChat.self, PeerOptions())
        let format = setup.format
        try await HazardRounds.rounds { generator, seed in
            let messages = messages(using: &generator)
            let frames = try messages.map { message in
                let frame = message.frame(from: .fromClient, setup)
                return try format.directions.fromClient.encode(frame.fields, body: frame.body)
            }
            let wide = messages.indices.filter { messages[$0].publishedFrame(setup) != frames[$0] }
            let chunks = HazardRounds.cut(frames, using: &generator)
            let reported = try HazardRounds.trace(.wideID, "im-magic", chunks, from: .fromClient).frames
            #expect(reported == wide, "seed \(seed): \(messages)")
            return !wide.isEmpty
        }
    }

    /// Frames as the published client writes them: the first one that is too wide makes the receiver lose sync, and is reported.
    @Test func framesOfThePublishedClient() async throws {
        let setup = try PeerSetup(MagicChat.self, PeerOptions())
        let format = setup.format
        try await HazardRounds.rounds { generator, seed in
            let messages = messages(using: &generator)
            var (offset, wrong) = (0, Int?.none)
            for message in messages {
                let frame = message.frame(from: .fromClient, setup)
                let right = try format.directions.fromClient.encode(frame.fields, body: frame.body)
                let made = message.publishedFrame(setup)
                if made != right { wrong = wrong ?? offset }
                offset += made.count
            }
            let chunks = HazardRounds.cut(messages.map { $0.publishedFrame(setup) }, using: &generator)
            let traced = try HazardRounds.trace(.wideID, "im-magic", chunks, from: .fromClient)
            #expect(traced.first == wrong, "seed \(seed): \(traced), \(messages)")
            return wrong != nil
        }
    }
}
