import Streams

/// The interval at which something recurs, learned from the times at which it did.
struct LearnedInterval {
    /// How many consecutive intervals must be alike.
    static let fewest = 5
    /// How far the longest and the shortest may differ, as a share of the mean.
    static let mostSpread = 0.25
    /// Anything more frequent than this is not a heartbeat.
    static let shortest = Interval.milliseconds(10)

    /// The latest intervals; once learned, those it was learned from are in the counts.
    private var latest: [Int64] = []
    /// From how many intervals it was learned; 0 before that.
    private(set) var count = 0
    private var sum = 0.0
    private var minimum = Int64.max
    private var maximum = Int64.min

    /// Whether it is known.
    var isLearned: Bool { count > 0 }
    /// The mean.
    var mean: Interval { Interval(nanoseconds: count == 0 ? 0 : Int64(sum / Double(count))) }
    /// The difference between the longest and the shortest, as a share of the mean.
    var spread: Double { count == 0 ? 0 : Double(maximum - minimum) / max(1, sum / Double(count)) }

    /// Takes the time since its last occurrence.
    mutating func add(_ interval: Interval) {
        if isLearned {
            // An outlier is not learned from: it is what is searched for.
            let mean = sum / Double(count)
            guard abs(Double(interval.nanoseconds) - mean) <= Self.mostSpread * mean else { return }
            note(interval.nanoseconds)
            return
        }
        latest.append(interval.nanoseconds)
        if latest.count > Self.fewest { latest.removeFirst() }
        guard latest.count == Self.fewest, let low = latest.min(), let high = latest.max(),
            low >= Self.shortest.nanoseconds
        else { return }
        let mean = latest.reduce(0) { $0 + Double($1) } / Double(latest.count)
        guard Double(high - low) <= Self.mostSpread * mean else { return }
        for nanoseconds in latest { note(nanoseconds) }
        latest = []
    }

    private mutating func note(_ nanoseconds: Int64) {
        count += 1
        sum += Double(nanoseconds)
        minimum = min(minimum, nanoseconds)
        maximum = max(maximum, nanoseconds)
    }
}
