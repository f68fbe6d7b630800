import Framing
import Interception
import Streams
import TestSupport
import Testing

/// Rules that reset both sides after a number of bytes: the reset does not overtake them, whoever sends them.
@Suite struct ByteResetTests {
    private static let rules = ["reset: 300", "limit: 300; end: reset"]
    private static let others = [
        "", "latency: 100 ms", "latency: 5 ms; jitter: 20 ms", "rate: 4 KiB/s", "stall: 1 s; bytes: 100",
        "segment: every-byte; every: 2", "segment: merge 2; within: 1 s",
    ]

    /// What a chain puts out, on a clock that runs as far as it asks for.
    private func play(_ texts: [String], _ pieces: [Conversations.Piece]) throws -> [StageChain.Output] {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let rules = try texts.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }
        var chain = try #require(RuleSet(rules, seed: 1).stages(of: 1, format: format))
        var now = Timestamp(nanoseconds: 0)
        var outputs = chain.take(.began, at: now)
        for piece in pieces {
            outputs += chain.take(.bytes(piece.bytes, piece.direction), at: now)
            now = now + .milliseconds(1)
        }
        while let wake = chain.nextWake {
            now = max(now, wake)
            outputs += chain.take(.wake, at: now)
        }
        return outputs
    }

    private func bytes(_ outputs: ArraySlice<StageChain.Output>, _ direction: Direction) -> [UInt8] {
        outputs.flatMap { output -> [UInt8] in
            if case .write(let bytes, direction, _) = output { bytes } else { [] }
        }
    }

    @Test(arguments: rules, others) func theBytesComeBeforeTheReset(rule: String, other: String) throws {
        let line = [UInt8](repeating: UInt8(ascii: "x"), count: 89) + [10]
        let sent = (0..<10).flatMap { _ in line }
        let texts = [other, rule].filter { !$0.isEmpty }
        for direction in Direction.allCases {
            for size in [900, 100, 7] {
                var pieces = stride(from: 0, to: sent.count, by: size).map {
                    Conversations.Piece(bytes: Array(sent[$0..<min($0 + size, sent.count)]), direction: direction)
                }
                // What the other side says does not change that.
                pieces.insert(Conversations.Piece(bytes: [120, 10], direction: direction.opposite), at: 0)
                pieces.append(Conversations.Piece(bytes: [120, 10], direction: direction.opposite))
                let outputs = try play(texts, pieces)
                let place: Comment = "\(texts), \(direction), in pieces of \(size)"
                let end = try #require(
                    outputs.firstIndex { if case .end = $0 { true } else { false } }, place)
                #expect(bytes(outputs[..<end], direction) == Array(sent.prefix(300)), place)
                let ends = outputs[end...].filter { if case .end = $0 { true } else { false } }
                #expect(ends == [.end(.reset, direction), .end(.reset, direction.opposite)], place)
                #expect(
                    bytes(outputs[end...], direction) == [] && bytes(outputs[end...], direction.opposite) == [], place)
            }
        }
    }

    /// What comes at the same time as the last byte before the reset passes, too; what would come later is lost, and reported.
    @Test func theOtherDirectionKeepsWhatIsDue() throws {
        for direction in Direction.allCases {
            let pieces = [
                Conversations.Piece(bytes: [1, 2, 3], direction: direction.opposite),
                Conversations.Piece(bytes: [UInt8](repeating: 4, count: 10), direction: direction),
            ]
            let together = try play(
                ["latency: 9 ms", "latency: 1 ms; from: \(direction.opposite.sender)", "reset: 10"], pieces)
            #expect(
                bytes(together[...], direction.opposite) == [1, 2, 3] && bytes(together[...], direction).count == 10)
            let late = try play(["latency: 1 s; from: \(direction.opposite.sender)", "reset: 10"], pieces)
            #expect(bytes(late[...], direction).count == 10 && late.contains(.discarded(3, direction.opposite)))
        }
    }

    /// Who is gone is not waited for.
    @Test func aResetOfTheOtherSidePasses() throws {
        let rules = try ["rate: 100 B/s", "reset: 10"].enumerated().map {
            try RuleFile.rule($1, number: $0 + 1, format: nil)
        }
        for direction in Direction.allCases {
            var chain = try #require(RuleSet(rules, seed: 1).stages(of: 1, format: nil))
            let start = Timestamp(nanoseconds: 0)
            var outputs = chain.take(.began, at: start)
            outputs += chain.take(.bytes([UInt8](repeating: 1, count: 20), direction), at: start)
            #expect(!outputs.contains { if case .end = $0 { true } else { false } })
            // A FIN does not replace the reset, which both sides get.
            #expect(chain.take(.end(.fin, direction.opposite), at: start) == [])
            let gone = chain.take(.end(.reset, direction.opposite), at: start)
            #expect(gone == [.end(.reset, direction.opposite)])
        }
    }
}
