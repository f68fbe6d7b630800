import Streams
import Testing

@testable import Proxy

/// How long the recorder pauses: by what was queued since it last took something.
@Suite struct RecorderPaceTests {
    private let millisecond = Interval.milliseconds(1).nanoseconds

    /// The pauses after batches, each of which holds so many bytes for every millisecond since the last.
    private func pauses(_ batches: [(milliseconds: Int64, rate: Int)]) -> [Interval] {
        var pace = RecorderPace()
        var time = Timestamp(nanoseconds: 0)
        pace.take(0, at: time)
        return batches.map { batch in
            time = Timestamp(nanoseconds: time.nanoseconds + batch.milliseconds * millisecond)
            pace.take(Int(batch.milliseconds) * batch.rate, at: time)
            return pace.pause
        }
    }

    @Test(arguments: [1, 2, 20, 60_000] as [Int64]) func onlyTheRateMatters(milliseconds: Int64) {
        let limit = RecorderPace.longLimit / 20
        #expect(pauses([(milliseconds, limit)]) == [RecorderPace.long])
        #expect(pauses([(milliseconds, limit + 1)]) == [RecorderPace.short])
    }

    @Test func theLastBatchDecides() {
        let (few, many) = (1_000, 1_000_000)
        #expect(
            pauses([(2, many), (2, few), (20, few), (20, many), (2, many)]).map(\.nanoseconds)
                == [2, 20, 20, 2, 2].map { $0 * millisecond })
    }

    @Test func exactlyTheLimit() {
        for (cost, pause) in [
            (RecorderPace.longLimit, RecorderPace.long), (RecorderPace.longLimit + 1, RecorderPace.short),
        ] {
            var pace = RecorderPace()
            pace.take(0, at: Timestamp(nanoseconds: 0))
            pace.take(cost, at: Timestamp(nanoseconds: RecorderPace.long.nanoseconds))
            #expect(pace.pause == pause)
        }
    }

    /// Before anything is known, and if the clock stands still, the pause is short.
    @Test func nothingToGoBy() {
        var pace = RecorderPace()
        #expect(pace.pause == RecorderPace.short)
        pace.take(0, at: Timestamp(nanoseconds: 5))
        #expect(pace.pause == RecorderPace.short)
        pace.take(0, at: Timestamp(nanoseconds: 5))
        #expect(pace.pause == RecorderPace.short)
        pace.take(0, at: Timestamp(nanoseconds: 6))
        #expect(pace.pause == RecorderPace.long)
    }
}
