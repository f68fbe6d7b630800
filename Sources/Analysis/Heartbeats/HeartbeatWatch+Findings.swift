import Framing
import Streams
import Trace

/// Findings about heartbeats.
extension HeartbeatWatch {
    private var every: Interval { contract.every }
    private var sender: String { from.sender }

    func finding(
        _ kind: Finding.Kind, _ severity: Finding.Severity, at time: Timestamp, _ message: String, _ data: [Field]
    ) -> Finding {
        Finding(
            kind: kind, severity: severity, connection: connection.number, format: connection.known?.format.name,
            from: from,
            time: time, message: message, data: data)
    }

    /// Reports a gap, or the absence of any heartbeat, and whether the sender sent anything else; each once. The absence is kept
    /// in `never`, since it depends on the other side.
    ///
    /// - Parameter frames: how many frames the sender has sent.
    func reportGap(frames: Int) -> [Finding] {
        let (deadline, due) = (deadline, due)
        reported = deadline
        let traffic = connection.traffic[from]
        closed = traffic.disturbances?.closure(from: due, to: deadline)?.lowerBound
        lastFrame = traffic.lastFrame <= deadline ? traffic.lastFrame : Timestamp(nanoseconds: .min)
        wasRepeating = traffic.lastFrame < due && traffic.disturbances?.retransmitted.map { $0 >= due } == true
        if last == nil, mayHaveMissedFirst { return [] }
        var found: [Finding] = []
        let others = frames - lastCount
        // Frames right after the last heartbeat are no evidence: only those when the next one was due are.
        let isSending = others > 0 && traffic.lastFrame >= due
        earlyFrames = isSending ? 0 : others
        if let last {
            let silence = deadline - last
            let expected =
                learned.map { learned in
                    "which came every \(every.text(digits: true)): learned from \(learned.gaps) gaps with a spread of \(Int((learned.spread * 100).rounded())) %"
                } ?? "expected every \(every.text())"
            found.append(
                finding(
                    .heartbeatGap, learned == nil ? .warning : .info, at: deadline,
                    "heartbeat gap: \(silence.text(digits: true)) since \(lastType), \(expected)",
                    [
                        Field("expectedEvery", .number(every.seconds)), Field("silentFor", .number(silence.seconds)),
                        Field("lastType", .text(lastType)), Field("lastIndex", .integer(Int64(lastIndex))),
                    ] + .packets(("lastPacket", lastPacket)) + learnedData))
        } else {
            found.append(
                finding(
                    .heartbeatNever, .warning, at: deadline,
                    "no heartbeat from the \(sender) within \(contract.first.text(digits: true)), expected every \(every.text())",
                    [
                        Field("expectedEvery", .number(every.seconds)),
                        Field("silentFor", .number(contract.first.seconds)),
                    ]))
        }
        if isSending {
            found.append(
                finding(
                    .trafficWithoutHeartbeats, learned == nil ? .warning : .info, at: deadline,
                    "the \(sender) goes on sending, but no heartbeat: \(Quantities.counted(others, "frame")) since "
                        + (last == nil ? "the connection opened" : lastType),
                    [Field("otherFrames", .integer(Int64(others)))]))
        }
        guard last == nil else { return found }
        never = (deadline, found)
        return []
    }

    /// Whether the first heartbeat may have arrived: bytes of its sender are missing or belong to no frame.
    private var mayHaveMissedFirst: Bool {
        let disturbances = connection.traffic[from].disturbances
        return disturbances?.missing != nil || disturbances?.unframed != nil
    }

    /// Returns the finding for a connection without any heartbeat, once the other side is known up to the deadline. If it had
    /// closed the connection by then, no heartbeat was due.
    ///
    /// - Parameter other: up to when the other side is known.
    func settleNever(before other: Timestamp) -> [Finding] {
        guard let (deadline, found) = never, deadline < other || otherEnd != nil else { return [] }
        never = nil
        return otherEnd.map { $0 <= deadline } == true ? [] : found
    }

    private var learnedData: [Field] {
        guard let learned else { return [] }
        return [
            Field("learnedFrom", .integer(Int64(learned.gaps))),
            Field("spread", .number((learned.spread * 1_000).rounded() / 1_000)),
        ]
    }

    /// A heartbeat is late, but no gap was before it.
    func lateness(of heartbeat: FrameInfo) -> Finding {
        let silence = heartbeat.time - (last ?? heartbeat.time)
        return finding(
            .lateHeartbeat, .info, at: heartbeat.time,
            "late heartbeat: \(silence.text(digits: true)) after \(lastType), expected every \(every.text())",
            [
                Field("expectedEvery", .number(every.seconds)), Field("silentFor", .number(silence.seconds)),
                Field("index", .integer(Int64(heartbeat.index))), Field("lastIndex", .integer(Int64(lastIndex))),
            ] + .packets(("packet", heartbeat.packet), ("lastPacket", lastPacket)))
    }

    /// How many more were late.
    func moreLate(at time: Timestamp) -> Finding {
        let more = late - Self.mostLate
        return finding(
            .lateHeartbeat, .info, at: time, "\(Quantities.counted(more, "more heartbeat")) from the \(sender) late",
            [Field("count", .integer(Int64(more)))])
    }

    /// A heartbeat ends a gap.
    ///
    /// - Returns: the finding; nil if the cause depends on what follows immediately: see `settleDoubt`.
    func resume(with heartbeat: FrameInfo) -> Finding? {
        let (finding, pause) = resumption(with: heartbeat)
        let blame = Blame(for: pause, endedBy: heartbeat, evidence: evidence, on: connection)
        if blame.isCertain { return finding.adding(blame) }
        witness?.keep()
        doubt = HeartbeatDoubt(
            until: heartbeat.time + Interval(nanoseconds: every.nanoseconds / 2), heartbeat, pause, finding)
        doubt?.take()
        return nil
    }

    /// Judges a gap whose cause was in doubt, once what follows immediately is known up to `time`.
    func settleDoubt(before time: Timestamp, into findings: inout [Finding]) {
        guard let doubt, doubt.until < time else { return }
        let evidence = witness?.hasSegments == true ? witness?.judged : nil
        let blame = Blame(
            for: doubt.pause, endedBy: doubt.heartbeat, amongAtOnce: doubt.countOfAll, evidence: evidence,
            on: connection)
        findings.append(doubt.finding.adding(blame))
        witness?.forget()
        self.doubt = nil
    }

    /// A heartbeat ends a gap, without waiting for what follows.
    func resumptionAtOnce(with heartbeat: FrameInfo) -> Finding {
        let (finding, pause) = resumption(with: heartbeat)
        return finding.adding(Blame(for: pause, endedBy: heartbeat, evidence: evidence, on: connection))
    }

    private var evidence: PauseEvidence? { witness?.hasSegments == true ? witness?.current : nil }

    /// The finding when a heartbeat ends a gap, without the blame.
    private func resumption(with heartbeat: FrameInfo) -> (Finding, Blame.Pause) {
        let silence = heartbeat.time - (last ?? heartbeat.time)
        let others = heartbeat.index - lastCount
        let found = finding(
            .heartbeatResumed, .info, at: heartbeat.time, "heartbeat resumed after \(silence.text(digits: true))",
            [
                Field("silentFor", .number(silence.seconds)), Field("index", .integer(Int64(heartbeat.index))),
                Field("lastIndex", .integer(Int64(lastIndex))), Field("otherFrames", .integer(Int64(others))),
            ] + .packets(("packet", heartbeat.packet), ("lastPacket", lastPacket)))
        return (found, pause(until: heartbeat.time, others: others, endedBySender: true))
    }

    /// No heartbeat ended the gap before the sender's stream did.
    func stop(at time: Timestamp, because reason: CloseReason?) -> Finding {
        let silence = time - (last ?? time)
        let others = connection.traffic[from].frames - lastCount
        let pause = pause(until: time, others: others, endedBySender: reason == nil)
        var blame = Blame(for: pause, endedBy: nil, evidence: evidence, on: connection)
        if reason == .evicted { blame = Blame(.unknown, "cannot tell: the connection was evicted to save memory") }
        return finding(
            .heartbeatStopped, learned == nil ? .warning : .info, at: time,
            "heartbeats stopped \(silence.text(digits: true)) before the end: \(blame.reason)",
            [
                Field("expectedEvery", .number(every.seconds)), Field("silentFor", .number(silence.seconds)),
                Field("lastType", .text(lastType)), Field("lastIndex", .integer(Int64(lastIndex))),
                Field("otherFrames", .integer(Int64(others))),
            ] + .packets(("lastPacket", lastPacket)) + blame.data)
    }

    /// When the next heartbeat was due.
    private var due: Timestamp { (last ?? connection.opening.time) + every }

    private func pause(until end: Timestamp, others: Int, endedBySender: Bool) -> Blame.Pause {
        Blame.Pause(
            from: from, start: last ?? connection.opening.time, due: due, deadline: reported ?? deadline, end: end,
            every: every, late: contract.late, closed: closed, wasRepeating: wasRepeating, otherFrames: others,
            earlyFrames: earlyFrames, lastFrame: lastFrame, endedBySender: endedBySender)
    }
}

extension Finding {
    /// The same, with the cause.
    fileprivate func adding(_ blame: Blame) -> Finding {
        var finding = self
        finding.message += ": \(blame.reason)"
        finding.data += blame.data
        return finding
    }
}
