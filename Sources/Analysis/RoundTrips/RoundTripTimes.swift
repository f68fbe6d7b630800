import Histogram
import Streams

/// How long round trips took: exact minimum and maximum, percentiles, and how many fall into the usual buckets.
package struct RoundTripTimes: Sendable {
    /// The upper ends of the buckets, in milliseconds; the last has none.
    package static let limits: [Int64] = [50, 100, 200]

    /// How many there were.
    package private(set) var count = 0
    /// The shortest.
    package private(set) var minimum = Interval(nanoseconds: 0)
    /// The longest.
    package private(set) var maximum = Interval(nanoseconds: 0)
    /// How many are within each of the limits, and beyond them.
    package private(set) var buckets: [Int]
    private let limits: [Interval]
    private var histogram: Histogram<UInt32>

    /// The longest time that percentiles distinguish from longer ones.
    private static let longest: UInt64 = 3_600_000_000_000

    /// None yet.
    ///
    /// - Parameters:
    ///   - digits: how many significant digits percentiles have: 3 take 130 kB, 2 take 20.
    ///   - limits: the upper ends of the buckets, in milliseconds.
    package init(digits: SignificantDigits = .two, limits: [Int64] = RoundTripTimes.limits) {
        self.limits = limits.map { .milliseconds($0) }
        buckets = Array(repeating: 0, count: limits.count + 1)
        histogram = Histogram(
            lowestDiscernibleValue: 1, highestTrackableValue: Self.longest, numberOfSignificantValueDigits: digits)
    }

    /// Records one; a negative one, due to clocks or the capture's order, counts as zero.
    package mutating func add(_ time: Interval) {
        let time = max(time, Interval(nanoseconds: 0))
        minimum = count == 0 ? time : min(minimum, time)
        maximum = max(maximum, time)
        count += 1
        histogram.record(min(UInt64(time.nanoseconds), Self.longest))
        buckets[limits.firstIndex { time <= $0 } ?? limits.count] += 1
    }

    /// What was recorded, as precise as the digits allow, in ascending order.
    package var recorded: [(time: Interval, count: Int)] {
        histogram.recordedValues().map { (Interval(nanoseconds: Int64(clamping: $0.value)), Int($0.count)) }
    }

    /// A percentile, as precise as the digits allow.
    package func percentile(_ percentile: Double) -> Interval {
        let value = Interval(nanoseconds: Int64(clamping: histogram.valueAtPercentile(percentile)))
        return max(minimum, min(maximum, value))
    }
}
