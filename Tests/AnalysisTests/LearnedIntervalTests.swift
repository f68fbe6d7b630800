@testable import Analysis
import Streams
import TestSupport
import Testing

@Suite struct LearnedIntervalTests {
    private func learned(_ milliseconds: [Int64]) -> LearnedInterval {
        var interval = LearnedInterval()
        for time in milliseconds { interval.add(.milliseconds(time)) }
        return interval
    }

    @Test func fiveThatAreAlikeTeachIt() {
        let five = learned([1_000, 1_010, 990, 1_000, 1_000])
        #expect(five.count == 5 && five.mean == .seconds(1) && abs(five.spread - 0.02) < 0.001)
        #expect(!learned([1_000, 1_010, 990, 1_000]).isLearned, "four do not")
        #expect(!learned([1_000, 1_300, 990, 1_000, 1_000, 1_000]).isLearned, "one of the last five is longer")
        #expect(learned([7, 3_000, 1_000, 990, 1_000, 1_000, 1_000]).count == 5, "what was before does not matter")
        #expect(!learned([5, 5, 5, 5, 5, 5]).isLearned, "too often for a heartbeat")
    }

    @Test func whatIsUnlikeTeachesNothingMore() {
        let interval = learned([1_000, 1_000, 1_000, 1_000, 1_000, 9_000, 1_100])
        #expect(interval.count == 6 && interval.spread < 0.11)
    }

    @Test func randomTimesTeachNothing() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var taught = 0
        for _ in 0..<200 {
            // Like a person typing: each pause is anything from 0 to 10 s.
            if learned((0..<30).map { _ in Int64.random(in: 0...10_000, using: &generator) }).isLearned { taught += 1 }
        }
        #expect(taught < 40, "\(taught) of 200, seed \(seed)")
    }
}
