import Framing
import Streams
import Trace

/// What is said of heartbeats.
extension HeartbeatWatch {
    private var every: Interval { contract.every }
    private var sender: String { from.sender }

    func finding(
        _ kind: Finding.Kind, _ severity: Finding.Severity, at time: Timestamp, _ message: String, _ data: [Field]
    ) -> Finding {
        Finding(
            kind: kind, severity: severity, connection: connection.number, format: connection.format?.name, from: from,
            time: time, message: message, data: data)
    }

    /// There is a gap, or there never was a heartbeat; and whether the sender sent anything else. It is told once.
    ///
    /// - Parameter frames: how many frames the sender has sent.
    func tellGap(frames: Int) -> [Finding] {
        let (deadline, due) = (deadline, due)
        told = deadline
        let traffic = connection.traffic[from]
        closed = traffic.disturbances?.closure(from: due, to: deadline)?.lowerBound
        wasRepeating = traffic.lastFrame < due && traffic.disturbances?.retransmitted.map { $0 >= due } == true
        var found: [Finding] = []
        let others = frames - lastCount
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
        // What came right behind the last heartbeat says nothing: only what came when the next was due.
        if others > 0, connection.traffic[from].lastFrame >= due {
            found.append(
                finding(
                    .trafficWithoutHeartbeats, learned == nil ? .warning : .info, at: deadline,
                    "the \(sender) goes on sending, but no heartbeat: \(Quantities.counted(others, "frame")) since "
                        + (last == nil ? "the connection opened" : lastType),
                    [Field("otherFrames", .integer(Int64(others)))]))
        }
        return found
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
    func resumption(with heartbeat: FrameInfo) -> Finding {
        let pause = pause(until: heartbeat.time, others: heartbeat.index - lastCount)
        return resumption(with: heartbeat, Blame(for: pause, endedBy: heartbeat, on: connection))
    }

    /// What nobody can tell yet of a heartbeat that ends a gap; nil where it can be told.
    ///
    /// It looks as if the sender had been silent; but if all the others follow that were due, they were held up on the way.
    func doubt(about heartbeat: FrameInfo) -> HeartbeatDoubt? {
        let pause = pause(until: heartbeat.time, others: heartbeat.index - lastCount)
        let blame = Blame(for: pause, endedBy: heartbeat, on: connection)
        guard blame.party == .sender, pause.otherFrames == 0 else { return nil }
        let other = Blame(for: pause, endedBy: heartbeat, amongAtOnce: pause.missed, on: connection)
        return HeartbeatDoubt(
            until: heartbeat.time + Interval(nanoseconds: every.nanoseconds / 2), missed: pause.missed,
            alone: resumption(with: heartbeat, blame), withAll: resumption(with: heartbeat, other))
    }

    private func resumption(with heartbeat: FrameInfo, _ blame: Blame) -> Finding {
        let silence = heartbeat.time - (last ?? heartbeat.time)
        let others = heartbeat.index - lastCount
        return finding(
            .heartbeatResumed, .info, at: heartbeat.time,
            "heartbeat again after \(silence.text(digits: true)): \(blame.reason)",
            [
                Field("silentFor", .number(silence.seconds)), Field("index", .integer(Int64(heartbeat.index))),
                Field("lastIndex", .integer(Int64(lastIndex))), Field("otherFrames", .integer(Int64(others))),
            ] + .packets(("packet", heartbeat.packet), ("lastPacket", lastPacket)) + blame.data)
    }

    /// No heartbeat ended the gap before the sender's stream did.
    func stop(at time: Timestamp, because reason: CloseReason?) -> Finding {
        let silence = time - (last ?? time)
        let others = connection.traffic[from].frames - lastCount
        var blame = Blame(for: pause(until: time, others: others), endedBy: nil, on: connection)
        if reason == .evicted { blame = Blame(.unknown, "cannot tell: the connection was let go to save memory") }
        return finding(
            .heartbeatStopped, learned == nil ? .warning : .info, at: time,
            "the heartbeats stopped \(silence.text(digits: true)) before the end: \(blame.reason)",
            [
                Field("expectedEvery", .number(every.seconds)), Field("silentFor", .number(silence.seconds)),
                Field("lastType", .text(lastType)), Field("lastIndex", .integer(Int64(lastIndex))),
                Field("otherFrames", .integer(Int64(others))),
            ] + .packets(("lastPacket", lastPacket)) + blame.data)
    }

    /// When the next heartbeat was due.
    private var due: Timestamp { (last ?? connection.opening.time) + every }

    private func pause(until end: Timestamp, others: Int) -> Blame.Pause {
        Blame.Pause(
            from: from, start: last ?? connection.opening.time, due: due, deadline: told ?? deadline, end: end,
            every: every, late: contract.late, closed: closed, wasRepeating: wasRepeating, otherFrames: others)
    }
}
