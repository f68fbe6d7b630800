import Framing
import Streams

/// The broadcasts that one client has got, and its receipts.
///
/// A receipt belongs to the last broadcast before it. Frames that only a pause ends are reported late, so that a receipt may be
/// reported before its broadcast, and a broadcast long before its receipt: a client's frame shows that all its older ones were
/// reported.
struct OwedReceipts {
    private var broadcasts: [(frame: HazardView, within: Interval)] = []
    private var receipts: [Timestamp] = []

    private static let most = 256

    /// The server has sent one.
    mutating func sent(_ frame: HazardView, within: Interval) {
        broadcasts.append((frame, within))
        if broadcasts.count > Self.most { broadcasts.removeFirst() }
    }

    /// The client has sent a frame; returns the broadcasts for which no receipt can arrive any more.
    mutating func heard(isReceipt: Bool, at time: Timestamp) -> [HazardView] {
        if isReceipt { receipts.append(time) }
        if receipts.count > Self.most { receipts.removeFirst() }
        var lost: [HazardView] = []
        while broadcasts.count > 1, broadcasts[1].frame.info.time < time {
            lost += next(before: broadcasts[1].frame.info.time)
        }
        return lost
    }

    /// The connection is over; returns the broadcasts without receipt. The last one may still be waited for if only the record
    /// ends.
    mutating func ended(_ closing: Closing) -> [HazardView] {
        var lost: [HazardView] = []
        while broadcasts.count > 1 { lost += next(before: broadcasts[1].frame.info.time) }
        guard let last = broadcasts.first else { return lost }
        let isOver = closing.reason == .fin || closing.reason == .reset
        return isOver || last.frame.info.time + last.within < closing.time ? lost + next(before: nil) : lost
    }

    /// Takes the first broadcast with its receipts; returns it if it has none.
    private mutating func next(before end: Timestamp?) -> [HazardView] {
        let frame = broadcasts.removeFirst().frame
        let isConfirmed = receipts.contains { $0 >= frame.info.time && $0 < end ?? .distantFuture }
        if let end { receipts.removeAll { $0 < end } }
        return isConfirmed ? [] : [frame]
    }
}
