import Streams
import Trace

/// What the segments of a capture reveal about a pause in heartbeats: whether their sender was alive and had sent nothing that was not
/// captured, and whether the network or the other side kept it from sending.
struct PauseEvidence {
    /// At most so many times are kept; then every other one is dropped.
    private static let mostTimes = 256

    /// When a segment of the sender's showed that it had sent nothing that was not captured; not closer together than `spacing`.
    private(set) var nothingUnseen: [Timestamp] = []
    /// Whether the pause is over: what is lost then is none of it.
    var isOver = false
    private var spacing = Interval.milliseconds(100)
    /// When the sender sent a segment last.
    private(set) var lastSegment: Timestamp?
    /// When the sender first and last sent again what was captured before, and how often.
    private(set) var repetitions: (first: Timestamp, last: Timestamp, count: Int)?
    private var repeatedEnd = 0
    /// When the other side acknowledged what was sent again.
    private var released: Timestamp?
    /// Up to where the other side acknowledged, as far as that was seen in the pause.
    private var acknowledged: Int?
    /// How often the sender sent again what the other side had acknowledged: it did not get that.
    private var unheard = 0
    /// Since when bytes were on their way that were not captured yet.
    private(set) var aheadSince: Timestamp?
    /// When what they waited for came.
    private(set) var aheadUntil: Timestamp?
    /// How many packets of the sender were not captured; nil where that is not known.
    private(set) var lostPackets: Int?
    /// How often the other side sent something again without any segment of the sender in between.
    private(set) var unanswered = 0
    private var unansweredNow = 0
    /// By how much the first segment that was late by the sender's own clock was, and the last segment.
    private(set) var firstDelay: Interval?
    private(set) var lastDelay: Interval?
    /// The same for the other side's last segment.
    private(set) var otherDelay: Interval?

    /// Takes a segment of the sender.
    mutating func sent(_ segment: SegmentNotice, at time: Timestamp, delay: Interval?) {
        lastSegment = time
        unansweredNow = 0
        if !isOver, let skipped = segment.skippedPackets { lostPackets = (lostPackets ?? 0) + skipped }
        if let delay {
            lastDelay = delay
            if firstDelay == nil, delay > Self.delay { firstDelay = delay }
        }
        if segment.isAhead {
            if !isOver { aheadSince = aheadSince ?? time }
        } else if segment.isRepetition {
            // With the end of a pause, copies come right behind what they repeat. One that is counted is a packet of its own, and not the
            // same one captured twice.
            let isOwn = isOver && segment.skippedPackets != nil
            guard isOwn || time - segment.lastBytes > SegmentNotice.quietAfter else { return }
            repetitions = (repetitions?.first ?? time, time, (repetitions?.count ?? 0) + 1)
            repeatedEnd = max(repeatedEnd, segment.offset + segment.byteCount)
            if let acknowledged, acknowledged >= repeatedEnd { unheard += 1 } else { released = nil }
        } else if segment.isNext {
            if aheadSince != nil { aheadUntil = aheadUntil ?? time }
            note(time)
        }
    }

    /// Until when the sender's TCP held back what was new, since what it had sent before was not acknowledged, as far as it knew
    /// (RFC 6298 section 5, RFC 5681 section 3.1); nil where it did not.
    ///
    /// - Parameter end: when the pause was over.
    func heldBack(until end: Timestamp) -> Timestamp? {
        guard let repetitions else { return nil }
        if unheard >= 2 { return end }
        return released ?? (acknowledged == nil ? repetitions.last : end)
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

    /// A segment that took so much longer than others was held up.
    private static let delay = Interval.milliseconds(500)

    /// How the sender's clock and the capture's disagree.
    enum Delay {
        /// Segments that were sent in the pause arrived at its end: what came later did so as fast as before.
        case held(Interval)
        /// All that both sides sent since then is late: it was the capture's clock that jumped.
        case captureClock(Interval)
        /// All that the sender sent since then is late, but the other side's is not: the sender's clock stood still.
        case senderClock(Interval)
        /// One of these two.
        case someClock(Interval)
    }

    /// How the sender's clock and the capture's disagree; nil where they agree.
    var delays: Delay? {
        guard let firstDelay, let lastDelay else { return nil }
        if lastDelay.nanoseconds < firstDelay.nanoseconds / 2 { return .held(firstDelay) }
        guard let otherDelay else { return .someClock(firstDelay) }
        return abs((firstDelay.nanoseconds - otherDelay.nanoseconds)) <= firstDelay.nanoseconds / 4
            ? .captureClock(firstDelay) : .senderClock(firstDelay)
    }
}

/// Gathers what segments reveal about the pause that goes on, and about the one before while its judgement waits.
final class PauseWitness: SegmentWitness {
    private let sender: Direction
    private var clocks = PerDirection(fromClient: SenderClock(), fromServer: SenderClock())
    /// Since the last heartbeat.
    private(set) var current = PauseEvidence()
    /// Of the pause before that, until it is judged.
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

    /// A heartbeat came: another pause begins.
    func heartbeat() { current = PauseEvidence() }

    /// The pause that is over will be judged later.
    func keep() {
        judged = current
        judged?.isOver = true
    }

    /// The pause before was judged.
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
