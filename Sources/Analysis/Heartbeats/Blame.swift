import Framing
import Streams
import Trace

/// The cause of a pause in heartbeats, and the evidence for it.
struct Blame {
    /// The possible causes.
    enum Party: String, CaseIterable {
        /// The sender sent nothing, or nothing that counts.
        case sender
        /// What was sent did not arrive, or arrived late.
        case network
        /// The sender's host no longer answers, not even TCP retransmissions.
        case peerGone = "peer-gone"
        /// Bytes of that time are missing, and may have been heartbeats; or the capture's clock jumped.
        case capture
        /// The receiver accepted no data, so the sender could not send.
        case receiver
        /// Cannot tell.
        case unknown
    }

    /// A time without heartbeats.
    struct Pause {
        /// Who should have sent them.
        var from: Direction
        /// When the last one arrived.
        var start: Timestamp
        /// When the next one was due, and when it was overdue.
        var due: Timestamp
        var deadline: Timestamp
        /// When the pause was over.
        var end: Timestamp
        var every: Interval
        /// How long after the previous one a heartbeat is late.
        var late: Interval
        /// Since when the receiver had accepted no data when one was due; nil if it accepted data.
        var closed: Timestamp?
        /// Whether the sender sent only retransmissions when one was due.
        var wasRepeating: Bool
        /// How many other frames the sender sent meanwhile.
        var otherFrames: Int
        /// How many of them came before the next heartbeat was due, if all up to the deadline did; otherwise 0.
        var earlyFrames: Int
        /// When the last of them before the deadline arrived; the minimum if none did.
        var lastFrame: Timestamp
        /// Whether the sender ended the pause itself, by a heartbeat or by the end of its stream.
        var endedBySender: Bool
    }

    let party: Party
    /// For people.
    let reason: String
    /// Whether what follows immediately cannot change it.
    let isCertain: Bool

    init(_ party: Party, _ reason: String, isCertain: Bool = true) {
        (self.party, self.reason, self.isCertain) = (party, reason, isCertain)
    }

    var data: [Field] { [Field("blame", .text(party.rawValue)), Field("reason", .text(reason))] }

    /// Determines the cause of a pause.
    ///
    /// Gaps in the capture are checked first: nothing else can be determined then. Next comes what kept the sender from sending,
    /// then what its segments reveal. The remaining cause is silence of the sender.
    ///
    /// - Parameters:
    ///   - heartbeat: the one that ended it.
    ///   - count: how many heartbeats arrived together, if as many arrived as were due.
    ///   - evidence: what segments reveal; nil if the source has none.
    init(
        for pause: Pause, endedBy heartbeat: FrameInfo?, amongAtOnce count: Int? = nil, evidence: PauseEvidence?,
        on connection: TracedConnection
    ) {
        let disturbances = connection.traffic[pause.from].disturbances
        self =
            Self.kept(pause, disturbances, heartbeat, evidence, of: connection)
            ?? Self.unclear(pause, disturbances, heartbeat)
            ?? evidence.flatMap { Self.revealed(pause, disturbances, heartbeat, $0) }
            ?? Self.shown(pause, disturbances, heartbeat, count)
    }

    /// What certainly kept heartbeats from arriving.
    private static func kept(
        _ pause: Pause, _ disturbances: Disturbances?, _ heartbeat: FrameInfo?, _ evidence: PauseEvidence?,
        of connection: TracedConnection
    ) -> Blame? {
        let (sender, receiver) = (pause.from.sender, pause.from.opposite.sender)
        if let missing = disturbances?.missing, missing > pause.start, missing <= pause.end {
            return Blame(.capture, "the capture lost bytes of the \(sender) in that time")
        }
        if let overtaken = disturbances?.overtaken, overtaken.time == heartbeat?.time,
            overtaken.since <= pause.deadline
        {
            // It arrived with the bytes that filled a gap of the stream: it was overtaken, or waited behind overtaken bytes.
            let since = (overtaken.since - pause.start).text(digits: true)
            return Blame(
                .network,
                "it was sent in time and arrived late: later bytes were seen \(since) after the last heartbeat")
        }
        if let start = pause.closed, let closed = disturbances?.closure(from: pause.due, to: pause.end),
            !pause.hadTime(since: closed.upperBound)
        {
            // The same text for a proxy that had to hold bytes and for a closed window, which is how it records that.
            let again = start < closed.lowerBound ? " repeatedly" : ""
            let duration = (closed.upperBound - start).text(digits: true)
            return Blame(
                .receiver, "the \(receiver) accepted no data\(again) for \(duration): what was sent had to wait")
        }
        let again = evidence?.repetitions.flatMap { $0.first <= pause.deadline ? $0.last : nil }
        let known = pause.wasRepeating ? disturbances?.retransmitted.map { min($0, pause.end) } : nil
        let held = again == nil ? nil : evidence?.heldBack(until: pause.end, isEndedBySender: pause.endedBySender)
        guard let last = [again, known].compactMap(\.self).max(), !pause.hadTime(since: max(last, held ?? last)) else {
            return nil
        }
        return Blame(
            .network,
            "the \(sender) retransmitted, last \((last - pause.start).text(digits: true)) after the last heartbeat: until those bytes arrive, its TCP holds back new ones"
        )
    }

    /// What makes the cause impossible to determine.
    private static func unclear(_ pause: Pause, _ disturbances: Disturbances?, _ heartbeat: FrameInfo?) -> Blame? {
        if let unframed = disturbances?.unframed, unframed > pause.start, unframed <= pause.end {
            return Blame(.unknown, "cannot tell: bytes of the \(pause.from.sender) in that time belong to no frame")
        }
        if let heartbeat, heartbeat.started < heartbeat.time, heartbeat.started <= pause.deadline {
            let first = (heartbeat.started - pause.start).text(digits: true)
            return Blame(
                .unknown, "cannot tell: its first byte came \(first) after the last heartbeat, the rest late")
        }
        return nil
    }

    /// What segments reveal.
    private static func revealed(
        _ pause: Pause, _ disturbances: Disturbances?, _ heartbeat: FrameInfo?, _ evidence: PauseEvidence
    ) -> Blame? {
        let sender = pause.from.sender
        func after(_ time: Timestamp) -> String {
            "\((time - pause.start).text(digits: true)) after the last heartbeat"
        }
        if let time = pause.overdue(among: evidence.nothingUnseen) {
            return pause.sentOthers
                ? Blame(.sender, "the \(sender) sent \(pause.others), but no heartbeat")
                : Blame(
                    .sender,
                    "the \(sender) was silent: its TCP answered \(after(time)), and had sent nothing \(pause.otherFrames > 0 ? "more " : "")until then"
                )
        }
        if let overtaken = disturbances?.overtaken, overtaken.time == heartbeat?.time {
            return Blame(
                .unknown,
                "cannot tell: it arrived out of order, and later bytes were seen \(after(overtaken.since)), which is too late as well"
            )
        }
        if let ahead = evidence.aheadSince, ahead <= pause.deadline,
            !pause.hadTime(since: evidence.aheadUntil ?? pause.end)
        {
            return Blame(
                .network,
                "it did not arrive: \(after(ahead)) the \(sender)'s sequence number was ahead of the captured bytes"
            )
        }
        if let lost = evidence.lostPackets, lost > 0 {
            return Blame(
                .network,
                "\(Quantities.counted(lost, "packet")) of the \(sender) did not arrive in that time, by its count of them"
            )
        }
        if evidence.unanswered >= 2 {
            let what =
                "the \(sender)'s TCP did not answer while the \(pause.from.opposite.sender) retransmitted the same bytes \(evidence.unanswered) times"
            return Blame(pause.endedBySender ? .network : .peerGone, what)
        }
        switch evidence.delays {
        case .held(let delay):
            return Blame(
                .network, "it was delayed by up to \(delay.text(digits: true)), by the clock of the \(sender)'s TCP",
                isCertain: false)
        case .captureClock(let delay):
            return Blame(
                .capture,
                "the capture's clock jumped by \(delay.text(digits: true)): the clocks of both sides' TCP did not",
                isCertain: false)
        case .senderClock(let delay):
            return Blame(
                .sender,
                "the \(sender) was suspended for \(delay.text(digits: true)): the clock of its TCP stood still, too",
                isCertain: false)
        case .someClock(let delay):
            return Blame(
                .unknown,
                "cannot tell: by the clock of the \(sender)'s TCP, \(delay.text(digits: true)) of it did not pass: either that clock stood still or the capture's jumped",
                isCertain: false)
        case nil: break
        }
        if let again = evidence.repetitions, again.last >= pause.end {
            return Blame(.network, "it was delayed: its TCP's retransmissions came with it")
        }
        if !pause.endedBySender, evidence.lastSegment == nil {
            return Blame(
                .unknown,
                "cannot tell: nothing came from the \(sender), and nothing was sent to it that its TCP would have acknowledged"
            )
        }
        if evidence.lostPackets == 0 {
            return pause.sentOthers
                ? Blame(
                    .sender,
                    "the \(sender) sent \(pause.others), but no heartbeat in time; none of its packets is missing",
                    isCertain: false)
                : Blame(.sender, "the \(sender) was silent: none of its packets is missing", isCertain: false)
        }
        return nil
    }

    /// What the frames alone show.
    private static func shown(
        _ pause: Pause, _ disturbances: Disturbances?, _ heartbeat: FrameInfo?, _ count: Int?
    ) -> Blame {
        let sender = pause.from.sender
        if let overtaken = disturbances?.overtaken, overtaken.time == heartbeat?.time {
            let since = (overtaken.since - pause.start).text(digits: true)
            return Blame(
                .unknown,
                "cannot tell: it arrived out of order, and later bytes were seen \(since) after the last heartbeat, which is too late as well"
            )
        }
        if let count, pause.overdue(among: [pause.lastFrame]) == nil {
            return Blame(
                .unknown, "cannot tell: \(count) heartbeats came together, as if sent on time and delayed on the way")
        }
        let isCertain = pause.overdue(among: [pause.lastFrame]) != nil
        return pause.sentOthers
            ? Blame(.sender, "the \(sender) sent \(pause.others), but no heartbeat", isCertain: isCertain)
            : Blame(.sender, "the \(sender) was silent", isCertain: isCertain)
    }
}

extension Blame.Pause {
    /// How many heartbeats would have been due, including the one that arrived.
    var missed: Int { Int(max(2, (end - start).nanoseconds / max(1, every.nanoseconds))) }

    /// Whether the sender sent other frames when a heartbeat was due. Those right after the last heartbeat show nothing.
    fileprivate var sentOthers: Bool { earlyFrames < otherFrames }

    fileprivate var others: String { Quantities.counted(otherFrames, "other frame") }

    /// Whether the sender was late by itself once nothing kept it from sending.
    fileprivate func hadTime(since time: Timestamp) -> Bool { late < end - time }

    /// The last of some times at which a heartbeat was overdue and the one that ended the pause was not yet in flight.
    ///
    /// Lost or delayed segments arrive within a few round trips, so the end of the pause is no evidence.
    func overdue(among times: [Timestamp]) -> Timestamp? {
        let half = every.nanoseconds / 2
        let overdue = due + Interval(nanoseconds: half)
        let margin = Interval(nanoseconds: min(max(half, 500_000_000), 1_000_000_000))
        return times.last { overdue <= $0 && !(end < $0 + margin) }
    }
}

extension Disturbances {
    /// The last time span within a range in which the receiver accepted no data.
    func closure(from start: Timestamp, to end: Timestamp) -> ClosedRange<Timestamp>? {
        if let closedSince, closedSince <= end { return closedSince...end }
        guard let closed, closed.upperBound >= start, closed.lowerBound <= end else { return nil }
        return closed
    }
}
