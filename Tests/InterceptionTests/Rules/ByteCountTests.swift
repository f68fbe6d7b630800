import Framing
import Interception
import Streams
import TestSupport
import Testing

/// Rules that do something after a number of bytes.
@Suite struct ByteCountTests {
    /// What comes of rules, however the stream arrives.
    private struct Outcome: Equatable {
        var passed: [UInt8]
        var ends: PerDirection<Ending?>
        var reports: [String]
    }

    /// Plays a stream of the client that arrives in pieces of these sizes, all at the same time.
    private func play(_ texts: [String], _ sizes: [Int]) throws -> Outcome {
        let rules = try texts.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: nil) }
        var start = 0
        let pieces = sizes.map { size in
            defer { start += size }
            return Conversations.Piece(
                bytes: (start..<start + size).map { UInt8(truncatingIfNeeded: $0) }, direction: .fromClient)
        }
        let played = try Played(rules, nil, pieces, pace: .seconds(0))
        return Outcome(
            passed: played.passed.fromClient, ends: played.ends,
            reports: played.reports.map { "\($0.rule) at \($0.offset)" })
    }

    @Test func theLowestCountComesFirst() throws {
        let stalled = try play(["limit: 400", "stall: 1 s; bytes: 100"], [534])
        #expect(stalled.passed.count == 400 && stalled.reports == ["stall-2 at 100", "limit-1 at 400"])
        let limited = try play(["blackhole: 400; from: client", "limit: 100"], [534])
        #expect(limited.passed.count == 100 && limited.reports == ["limit-2 at 100"])
        let reset = try play(["half-close: 400; from: client", "reset: 100"], [534])
        #expect(reset.passed.count == 100 && reset.ends.fromClient == .reset)
    }

    /// In one piece, byte by byte, or in any pieces.
    @Test func nothingDependsOnTheSegmentation() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<300 {
            let texts = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                let count = Int.random(in: 0...40, using: &generator)
                let actions = [
                    "limit: \(count)", "limit: \(count); end: reset", "reset: \(count)", "half-close: \(count)",
                    "blackhole: \(count)", "stall: 1 s; bytes: \(count)", "stall: 2 s; bytes: \(count)",
                ]
                return (actions.randomElement(using: &generator) ?? "refuse:") + "; from: client"
            }
            let whole = try play(texts, [60])
            var (sizes, left) = ([Int](), 60)
            while left > 0 {
                sizes.append(Int.random(in: 1...min(left, 25), using: &generator))
                left -= sizes.last ?? left
            }
            let place: Comment = "seed \(seed), round \(round): \(texts), \(sizes)"
            #expect(try play(texts, Array(repeating: 1, count: 60)) == whole, place)
            #expect(try play(texts, sizes) == whole, place)
        }
    }
}
