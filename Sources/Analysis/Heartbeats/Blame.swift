import Framing
import Streams
import Trace

/// Whose fault a pause in heartbeats was, and what speaks for that.
struct Blame {
    /// Those who may be at fault.
    enum Party: String, CaseIterable {
        /// The sender sent nothing, or nothing that counts.
        case sender
        /// It was sent in time, and arrived late.
        case network
        /// Bytes of that time are missing: they may have been heartbeats.
        case capture
        /// The receiver took nothing, so the sender could not send.
        case receiver
        /// Cannot tell.
        case unknown
    }

    /// A time without heartbeats.
    struct Pause {
        /// Who should have sent them.
        var from: Direction
        /// When the last came.
        var start: Timestamp
        /// When the next was due, and when it was too late.
        var due: Timestamp
        var deadline: Timestamp
        /// When the pause was over.
        var end: Timestamp
        var every: Interval
        /// After how long without a heartbeat the next is late.
        var late: Interval
        /// Since when the receiver took nothing when one was due; nil where it did.
        var closed: Timestamp?
        /// Whether the sender sent only what it had sent before when one was due.
        var wasRepeating: Bool
        /// How many other frames the sender sent meanwhile.
        var otherFrames: Int
    }

    let party: Party
    /// For people.
    let reason: String

    init(_ party: Party, _ reason: String) {
        (self.party, self.reason) = (party, reason)
    }

    var data: [Field] { [Field("blame", .text(party.rawValue)), Field("reason", .text(reason))] }

    /// Judges a pause.
    ///
    /// What the capture does not have comes first: nothing else can be told then. Silence of the sender is what is left.
    ///
    /// - Parameters:
    ///   - heartbeat: the one that ended it.
    ///   - count: how many frames came at once with it, where more are known than lay in its chunk.
    init(
        for pause: Pause, endedBy heartbeat: FrameInfo?, amongAtOnce count: Int = 0, on connection: TracedConnection
    ) {
        let (sender, receiver) = (pause.from.sender, pause.from.opposite.sender)
        let disturbances = connection.traffic[pause.from].disturbances
        if let missing = disturbances?.missing, missing > pause.start {
            self.init(.capture, "the capture lost bytes of the \(sender) in that time")
        } else if let overtaken = disturbances?.overtaken, overtaken.time == heartbeat?.time {
            // It came with what filled a hole: it was among what was overtaken, or waited behind that.
            self = Self.judge(overtaken, in: pause)
        } else if let start = pause.closed, let closed = disturbances?.closure(from: pause.due, to: pause.end),
            !pause.hadTime(since: closed.upperBound)
        {
            // The same words for a proxy that had to hold bytes and for a closed window, which is what it records of that.
            let again = start < closed.lowerBound ? " again and again" : ""
            let duration = (closed.upperBound - start).text(digits: true)
            self.init(.receiver, "the \(receiver) took nothing\(again) for \(duration): what was sent had to wait")
        } else if pause.wasRepeating, let again = disturbances?.retransmitted, !pause.hadTime(since: again) {
            self.init(
                .network,
                "bytes of the \(sender) had to be sent again, last \((again - pause.start).text(digits: true)) after the last heartbeat: until they arrive, its TCP holds back what is new"
            )
        } else if let unframed = disturbances?.unframed, unframed > pause.start {
            self.init(.unknown, "cannot tell: bytes of the \(sender) in that time belong to no frame")
        } else if let heartbeat, heartbeat.started < heartbeat.time, heartbeat.started <= pause.deadline {
            self.init(
                .unknown,
                "cannot tell: its first byte came \((heartbeat.started - pause.start).text(digits: true)) after the last heartbeat, the rest late"
            )
        } else if let heartbeat, max(count, heartbeat.companions) >= pause.missed {
            self.init(
                .unknown,
                "cannot tell: \(max(count, heartbeat.companions)) frames came at once, as if sent in time and held up on the way"
            )
        } else if pause.otherFrames > 0 {
            self.init(
                .sender,
                "the \(sender) sent \(Quantities.counted(pause.otherFrames, "other frame")), but no heartbeat")
        } else {
            self.init(.sender, "the \(sender) was silent")
        }
    }

    private static func judge(_ overtaken: (time: Timestamp, since: Timestamp), in pause: Pause) -> Blame {
        let since = (overtaken.since - pause.start).text(digits: true)
        let evidence = "bytes behind it were seen \(since) after the last heartbeat"
        if overtaken.since <= pause.deadline {
            return Blame(.network, "it was sent in time and arrived late: \(evidence)")
        }
        return Blame(.unknown, "cannot tell: it arrived out of order, and \(evidence), which is too late as well")
    }
}

extension Blame.Pause {
    /// How many heartbeats would have been due, the one that came included.
    var missed: Int { Int(max(2, (end - start).nanoseconds / max(1, every.nanoseconds))) }

    /// Whether the sender, from when nothing kept it from sending any more, was late by itself.
    fileprivate func hadTime(since time: Timestamp) -> Bool { late < end - time }
}

extension Disturbances {
    /// When the receiver took nothing, last of all in a span of time.
    func closure(from start: Timestamp, to end: Timestamp) -> ClosedRange<Timestamp>? {
        if let closedSince, closedSince <= end { return closedSince...end }
        guard let closed, closed.upperBound >= start, closed.lowerBound <= end else { return nil }
        return closed
    }
}
