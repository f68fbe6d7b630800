import Streams

/// How long the recorder pauses between batches: a value without clocks.
///
/// While it works, it takes a processor core, and a message that needs this core has to wait. If little is relayed, it works rarely, so
/// that few messages do. If much is relayed, it works often, so that none waits for long.
struct RecorderPace: Hashable, Sendable {
    /// The pause of a busy relay: long enough to record many reads at once.
    static let short = Interval.milliseconds(2)
    /// The pause if little is relayed: too short for a user to notice.
    static let long = Interval.milliseconds(20)
    /// The most that may be queued in a long pause, in bytes of memory: some 750 small reads.
    static let longLimit = 96 << 10

    /// How long to pause now.
    private(set) var pause = short
    private var last: Timestamp?

    /// Takes account of a batch.
    ///
    /// - Parameters:
    ///   - cost: how many bytes of memory its events held.
    ///   - time: when it was taken from the queue.
    mutating func take(_ cost: Int, at time: Timestamp) {
        defer { last = time }
        guard let last, time > last else {
            pause = Self.short
            return
        }
        let queued = Double(cost) * Self.long.seconds / (time - last).seconds
        pause = queued <= Double(Self.longLimit) ? Self.long : Self.short
    }
}
