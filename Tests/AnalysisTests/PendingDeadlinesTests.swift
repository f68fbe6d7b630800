import Analysis
import Framing
import Streams
import TestSupport
import Testing
import Trace

/// How many deadlines are pending: one for each awaited event, whatever fires and is rearmed.
@Suite struct PendingDeadlinesTests {
    /// Random arming, cancelling and firing, compared with a model that sorts.
    @Test func itFiresWhatIsPendingInOrderAndKeepsNothingElse() {
        for seed in UInt64(1)...200 {
            var generator = SeededGenerator(seed: seed)
            var deadlines = PendingDeadlines<Int>()
            var model: [Int: Int64] = [:]
            for _ in 0..<400 {
                let key = Int.random(in: 0..<40, using: &generator)
                let time = Int64.random(in: 0..<50, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0, 1:
                    deadlines.arm(key, at: Timestamp(nanoseconds: time))
                    model[key] = time
                case 2:
                    deadlines.cancel(key)
                    model[key] = nil
                default:
                    while let (fired, deadline) = deadlines.popFirst(before: Timestamp(nanoseconds: time / 4)) {
                        let expected = model.min { ($0.value, $0.key) < ($1.value, $1.key) }
                        #expect(expected?.key == fired, "seed \(seed)")
                        #expect(expected?.value == deadline.nanoseconds, "seed \(seed)")
                        model[fired] = nil
                    }
                    #expect(model.values.allSatisfy { $0 >= time / 4 }, "seed \(seed)")
                }
                #expect(deadlines.count == model.count, "seed \(seed)")
                #expect(deadlines.first?.nanoseconds == model.values.min(), "seed \(seed)")
                #expect(
                    deadlines.entries <= 2 * model.count + PendingDeadlines<Int>.slack, "seed \(seed): stale entries")
            }
        }
    }

    /// Gaps that end and begin again advance and postpone deadlines.
    @Test func heartbeatsThatComeAndGoHaveOneDeadlineEach() throws {
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            var watching = try Watching()
            var time: Int64 = 0
            var most = 0
            for _ in 0..<2_000 {
                time += Int64.random(in: 1...Watching.gap * 3, using: &generator)
                let number = Int.random(in: 1...5, using: &generator)
                if Bool.random(using: &generator) {
                    try watching.heartbeat(at: time, on: number)
                } else {
                    watching.advance(to: time)
                }
                most = max(most, watching.monitor.pendingDeadlines)
            }
            #expect(most <= 2 * 5 + PendingDeadlines<Int>.slack, "seed \(seed)")
            #expect(watching.monitor.remembered <= 10, "seed \(seed): a watch and a deadline for each")
            for number in 1...5 { watching.close(at: time, on: number) }
            #expect(watching.monitor.remembered == 0, "seed \(seed)")
        }
    }
}
