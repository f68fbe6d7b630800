import Streams
import Trace

/// What the segments of a capture reveal about a pause in heartbeats: whether their sender was alive and all it had sent was
/// captured, and whether the network or the other side kept it from sending.
struct PauseEvidence {
    /// At most this many times are kept; then every other one is dropped.
    private static let mostTimes = 256

    /// When a segment of the sender showed that everything it had sent was captured; not closer together than `spacing`.
    private(set) var nothingUnseen: [Timestamp] = []
    /// Whether the pause is over: later losses are not part of it.
    var isOver = false
    private var spacing = Interval.milliseconds(100)
    /// When the sender last sent a segment.
    private(set) var lastSegment: Timestamp?
    /// When the sender first and last retransmitted captured bytes, and how often.
    private(set) var repetitions: (first: Timestamp, last: Timestamp, count: Int)?
    private var repeatedEnd = 0
    /// How long before the last retransmission the preceding one was, or the bytes themselves.
    private var backOff = Interval(nanoseconds: 0)
    /// When the other side acknowledged the retransmissions.
    private var released: Timestamp?
    /// Up to where the other side acknowledged, if the capture has its acknowledgments.
    private var acknowledged: Int?
    /// How often the sender retransmitted what the other side had acknowledged: the acknowledgment was lost.
    private var unheard = 0
    /// Since when bytes in flight had not been captured yet.
    private(set) var aheadSince: Timestamp?
    /// When the awaited bytes arrived.
    private(set) var aheadUntil: Timestamp?
    /// How many packets of the sender were not captured; nil if unknown.
    private(set) var lostPackets: Int?
    /// How often the other side retransmitted without any segment of the sender in between.
    private(set) var unanswered = 0
    private var unansweredNow = 0
    /// By how much the first segment that was late by the sender's own clock was late, and the last segment.
    private(set) var firstDelay: Interval?
    private(set) var lastDelay: Interval?
    /// The same for the other side's last segment.
    private(set) var otherDelay: Interval?

    /// Takes a segment of the sender.
    mutating func sent(_ segment: SegmentNotice, at time: Timestamp, delay: Interval?) {
        lastSegment = time
        unansweredNow = 0
        if let offset = segment.acknowledgedBefore { acknowledged = max(acknowledged ?? offset, offset) }
        if !isOver, let skipped = segment.skippedPackets { lostPackets = (lostPackets ?? 0) + skipped }
        if let delay {
            lastDelay = delay
            if firstDelay == nil, delay > Self.delay { firstDelay = delay }
        }
        if segment.isAhead {
            if !isOver { aheadSince = aheadSince ?? time }
        } else if segment.isRepetition {
            // At the end of a pause, copies arrive right after the originals. A counted one is a packet of its own, and not the
            // same one captured twice.
            let isOwn = isOver && segment.skippedPackets != nil
            guard isOwn || time - segment.lastBytes > SegmentNotice.quietAfter else { return }
            backOff = time - (repetitions?.last ?? segment.lastBytes)
            repetitions = (repetitions?.first ?? time, time, (repetitions?.count ?? 0) + 1)
            repeatedEnd = max(repeatedEnd, segment.offset + segment.byteCount)
            if let acknowledged, acknowledged >= repeatedEnd { unheard += 1 } else { released = nil }
        } else if segment.isNext {
            if aheadSince != nil { aheadUntil = aheadUntil ?? time }
            note(time)
        }
    }

    /// Until when the sender's TCP held back new data because its earlier data was not acknowledged, as far as it knew (RFC 6298
    /// section 5, RFC 5681 section 3.1); nil if it did not.
    ///
    /// - Parameters:
    ///   - end: when the pause was over.
    ///   - isEndedBySender: whether the sender ended it, by new data.
    func heldBack(until end: Timestamp, isEndedBySender: Bool) -> Timestamp? {
        guard let repetitions else { return nil }
        if unheard >= 2 { return end }
        if let released { return released }
        if acknowledged != nil { return end }
        // The capture has no acknowledgments. They came if there was new data, or no retransmission where the next was due.
        let next = repetitions.last + backOff + backOff
        return isEndedBySender || next < end ? repetitions.last : end
    }

    /// Takes a segment of the other side.
    mutating func answered(_ segment: SegmentNotice, at time: Timestamp, delay: Interval?) {
        otherDelay = delay ?? otherDelay
        if let offset = segment.acknowledged {
            acknowledged = max(acknowledged ?? offset, offset)
            if repetitions != nil, released == nil, offset >= repeatedEnd { released = time }
        }
        if segment.isRepetition, time - segment.lastBytes > SegmentNotice.quietAfter {
            unansweredNow += 1
            unanswered = max(unanswered, unansweredNow)
        }
    }

    private mutating func note(_ time: Timestamp) {
        if let last = nothingUnseen.last, time - last < spacing { return }
        if nothingUnseen.count >= Self.mostTimes {
            nothingUnseen = nothingUnseen.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
            spacing = Interval(nanoseconds: spacing.nanoseconds * 2)
        }
        nothingUnseen.append(time)
    }

    /// A segment that took this much longer than others was delayed.
    private static let delay = Interval.milliseconds(500)

    /// How the sender's clock and the capture's disagree.
    enum Delay {
        /// Segments sent during the pause arrived at its end: later ones arrived as fast as before.
        case held(Interval)
        /// Everything that both sides sent since then is late: the capture's clock jumped.
        case captureClock(Interval)
        /// Everything that the sender sent since then is late, but not the other side's segments: the sender's clock stood still.
        case senderClock(Interval)
        /// One of the last two.
        case someClock(Interval)
    }

    /// How the sender's clock and the capture's disagree; nil if they agree.
    var delays: Delay? {
        guard let firstDelay, let lastDelay else { return nil }
        if lastDelay.nanoseconds < firstDelay.nanoseconds / 2 { return .held(firstDelay) }
        guard let otherDelay else { return .someClock(firstDelay) }
        let difference = (firstDelay - otherDelay).nanoseconds.magnitude
        return difference <= firstDelay.nanoseconds.magnitude / 4
            ? .captureClock(firstDelay) : .senderClock(firstDelay)
    }
}

/// Gathers what segments reveal about the current pause, and about the preceding one while its judgement is pending.
final class PauseWitness: SegmentWitness {
    private let sender: Direction
    private var clocks = PerDirection(fromClient: SenderClock(), fromServer: SenderClock())
    /// Since the last heartbeat.
    private(set) var current = PauseEvidence()
    /// Of the preceding pause, until it is judged.
    private(set) var judged: PauseEvidence?
    /// Whether the capture has segments at all.
    private(set) var hasSegments = false

    init(of sender: Direction) { self.sender = sender }

    func saw(_ segment: SegmentNotice, from direction: Direction, at time: Timestamp) {
        hasSegments = true
        let delay = segment.clock.flatMap { clocks[direction].take($0, at: time) }
        if direction == sender {
            current.sent(segment, at: time, delay: delay)
            judged?.sent(segment, at: time, delay: delay)
        } else {
            current.answered(segment, at: time, delay: delay)
            judged?.answered(segment, at: time, delay: delay)
        }
    }

    /// A heartbeat arrived: another pause begins.
    func heartbeat() { current = PauseEvidence() }

    /// The pause that just ended will be judged later.
    func keep() {
        judged = current
        judged?.isOver = true
    }

    /// The preceding pause was judged.
    func forget() {
        if case .captureClock = judged?.delays { restartClocks() }
        if case .senderClock = judged?.delays { restartClocks() }
        if case .someClock = judged?.delays { restartClocks() }
        judged = nil
    }

    private func restartClocks() {
        for direction in Direction.allCases { clocks[direction].restart() }
    }
}
