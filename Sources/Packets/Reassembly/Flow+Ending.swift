import Streams

/// Ends: FIN, RST, and the end of the capture.
extension Flow {
    /// Notes where a direction ends. A FIN before the bytes already passed on is not this stream's. The first one counts, unless it
    /// turns out to be a stray.
    mutating func takeFIN(
        at offset: Int, from direction: Direction, _ packet: PacketStamp, _ shared: inout ReassemblyState
    ) {
        let isStarted = sides[direction].marks.contains(.started)
        guard !isStarted || offset >= sides[direction].offset else { return }
        let held = shared.hold(&sides[direction], direction, number: number)
        if held.fin.map({ replacesFIN(at: $0.offset, offset, from: direction) }) ?? true {
            held.fin = (offset, packet.time)
        }
        // Who sent the first FIN does not depend on pending gaps.
        if finBy == nil { finBy = direction }
    }

    /// Reports the end of a direction once all bytes before its FIN were passed on or declared missing.
    ///
    /// - Parameter limit: up to where gaps are declared missing: the FIN's sequence number shows that bytes before it were not
    ///   captured.
    mutating func finishIfComplete(
        _ direction: Direction, givenUpTo limit: Int = .min, _ shared: inout ReassemblyState
    ) {
        guard sides[direction].marks.contains(.started), let held = shared.held(sides[direction]),
            held.segments.isEmpty,
            let fin = held.fin, fin.offset <= max(sides[direction].offset, limit)
        else { return }
        miss(direction, upTo: fin.offset, at: fin.time, &shared)
        finish(direction, .fin, at: fin.time, &shared)
        closeIfFinished(&shared)
    }

    /// The connection is over without a FIN in this direction: bytes that the other side acknowledged were sent, though not
    /// captured. An acknowledgment that is one ahead may be that of an uncaptured FIN, which is not a byte.
    ///
    /// A RST's own sequence number proves less: a forged one may have any number in the window. A capture that just ends may have
    /// been filtered, so then only a stream seen from its SYN on counts.
    private mutating func missAcknowledged(
        _ direction: Direction, at time: Timestamp, _ shared: inout ReassemblyState
    ) {
        // No SYN of the other side will come that shows otherwise.
        sides[direction].believe()
        let side = sides[direction]
        guard reset != nil || side.marks.contains(.synSeen) else { return }
        guard side.marks.intersection([.started, .ackSeen, .finished]) == [.started, .ackSeen] else { return }
        let end = side.position(of: side.acknowledged)
        if end > side.offset + 1 { miss(direction, upTo: end, at: time, &shared) }
    }

    private mutating func finish(
        _ direction: Direction, _ ending: Ending, at time: Timestamp, _ shared: inout ReassemblyState
    ) {
        guard !sides[direction].marks.contains(.finished) else { return }
        sides[direction].marks.insert(.finished)
        shared.release(&sides[direction])
        let clamped = max(time, sides[direction].lastTime)
        sides[direction].lastTime = clamped
        reportWaiting(direction.opposite, at: clamped, shared)
        receiver?.finished(ending, from: direction, at: clamped)
    }

    /// Closes the connection, once both directions ended.
    mutating func closeIfFinished(_ shared: inout ReassemblyState) {
        guard state == .open, sides.fromClient.marks.contains(.finished), sides.fromServer.marks.contains(.finished)
        else { return }
        let time = max(sides.fromClient.lastTime, sides.fromServer.lastTime)
        if let reset {
            close(.reset, by: reset.by, at: max(time, reset.time), &shared)
        } else {
            close(.fin, by: finBy, at: time, &shared)
        }
    }

    /// Takes a RST, if it is valid. Segments in flight may still arrive, so the end is reported a little later.
    mutating func takeReset(
        _ segment: TCPSegment, from direction: Direction, _ packet: PacketStamp, _ shared: inout ReassemblyState
    ) {
        guard state == .open else { return }
        if let reset {
            // One with exactly the next number is accepted, whatever becomes of the one before it.
            if direction == reset.by, segment.sequence == sides[direction].next {
                self.reset?.sequence = segment.sequence
            }
            return
        }
        // A RST without ACK answers what its sender knows nothing of: it has the number that was acknowledged (RFC 9293
        // section 3.5.2).
        if !segment.flags.contains(.ack), sides[direction].marks.contains(.ackDoubted),
            sides[direction].acknowledged == segment.sequence
        {
            forgetDoubted()
        }
        guard isValidReset(segment, from: direction, heldTo: shared.held(sides[direction])?.segments.end) else {
            return
        }
        reset = SeenReset(
            time: packet.time, by: direction, sequence: segment.sequence, reach: reach(of: direction.opposite, shared))
        awaitGrace(&shared)
    }

    /// The sequence number after all that a direction is known to have sent, its FIN included; nil if nothing is known of it.
    private func reach(of direction: Direction, _ shared: borrowing ReassemblyState) -> UInt32? {
        let side = sides[direction]
        guard let end = knownEnd(of: direction, shared) else { return nil }
        return side.next &+ UInt32(truncatingIfNeeded: end - side.offset)
    }

    /// The stream offset after all that a direction is known to have sent, its FIN included; nil if nothing is known of it.
    func knownEnd(of direction: Direction, _ shared: borrowing ReassemblyState) -> Int? {
        let side = sides[direction]
        let held = shared.held(side)
        guard side.marks.contains(.started) || held != nil else { return nil }
        var end = side.marks.contains(.finished) ? side.offset + 1 : side.offset
        if let acknowledged = side.acknowledgedOffset { end = max(end, acknowledged) }
        return max(end, held?.segments.end ?? end, held?.fin.map { $0.offset + 1 } ?? end)
    }

    /// Arms the deadline of a RST, unless it is pending: a series of RSTs, each disproved, must not accumulate deadlines.
    private mutating func awaitGrace(_ shared: inout ReassemblyState) {
        guard !awaitsReset else { return }
        awaitsReset = true
        shared.note(\.resets, after: shared.options.resetGrace, number: number)
    }

    /// The deadline of a RST fired: it may belong to an older RST that was disproved.
    mutating func meetReset(_ shared: inout ReassemblyState) {
        awaitsReset = false
        guard state == .open, let reset else { return }
        if reset.time + shared.options.resetGrace > shared.now { return awaitGrace(&shared) }
        settleReset(&shared)
    }

    /// Whether the other side would accept the RST: its number lies between what that side acknowledged and the end of the window
    /// it offered (RFC 9293 section 3.10.7.4). Less is known here than there, so in doubt the RST counts as valid.
    ///
    /// - Parameter held: the end of the bytes that wait behind a gap; nil if none wait.
    private func isValidReset(_ segment: TCPSegment, from direction: Direction, heldTo held: Int?) -> Bool {
        let side = sides[direction]
        let other = sides[direction.opposite]
        guard side.marks.contains(.started) else {
            // A refused connection: the RST acknowledges the SYN.
            guard segment.flags.contains(.ack), other.marks.contains(.started) else { return true }
            return other.position(of: segment.acknowledgment) >= 0
        }
        let window = max(65_535, Int(other.window) << Int(other.windowScale))
        let acknowledged = side.acknowledgedOffset ?? side.offset
        let position = side.position(of: segment.sequence)
        return position >= min(acknowledged, side.offset)
            && position <= max(acknowledged, side.offset, held ?? 0) + window
    }

    /// Whether a segment shows that the preceding RST was not its sender's, or was not accepted: a host that resets a connection
    /// sends nothing new on it, and acknowledges nothing that was sent after the RST (RFC 5961 section 3 has hosts ignore most
    /// such forgeries).
    func disprovesReset(_ segment: TCPSegment, from direction: Direction) -> Bool {
        guard let reset, direction == reset.by, !segment.flags.contains(.rst) else { return false }
        if let reach = reset.reach, segment.flags.intersection([.syn, .ack]) == .ack,
            (1..<1 << 20).contains(Int32(bitPattern: segment.acknowledgment &- reach))
        {
            return true
        }
        return segment.payloadLength > 0 && Int32(bitPattern: segment.sequence &- reset.sequence) >= 0
            && (0..<1 << 20).contains(sides[direction].position(of: segment.sequence) - sides[direction].offset)
    }

    /// Whether a segment is the answer to a RST that is not accepted: its number is in the window, but is not the next one that the
    /// receiver expects (RFC 5961 section 3.2). The receiver acknowledges all that was captured, so it has nothing after that.
    ///
    /// - Parameter isRepeated: whether the segment acknowledges what was acknowledged before: others may have been in flight
    ///   when the RST was sent.
    func isChallenge(_ segment: TCPSegment, from direction: Direction, isRepeated: Bool) -> Bool {
        guard let reset, isRepeated, segment.payloadLength == 0 else { return false }
        let side = sides[reset.by]
        return !side.isWaiting && !side.marks.contains(.finished) && followsInexactReset(segment, from: direction)
    }

    /// Whether a segment of a RST's receiver goes on exactly where both directions were, and the RST had a higher number than the
    /// next one; that of an uncaptured FIN aside.
    func followsInexactReset(_ segment: TCPSegment, from direction: Direction) -> Bool {
        guard let reset, direction == reset.by.opposite,
            segment.flags.intersection([.syn, .fin, .rst, .ack]) == .ack
        else { return false }
        let (side, other) = (sides[direction], sides[reset.by])
        return side.marks.contains(.started) && other.marks.contains(.started) && segment.sequence == side.next
            && segment.acknowledgment == other.next && Int32(bitPattern: reset.sequence &- other.next) > 1
    }

    /// Reports the RST, after the grace period.
    mutating func settleReset(_ shared: inout ReassemblyState) {
        guard state == .open, let reset else { return }
        flush(reset.by.opposite, &shared)
        guard state == .open else { return }
        flush(reset.by, &shared)
        guard state == .open else { return }
        let time = max(reset.time, sides.fromClient.lastTime, sides.fromServer.lastTime)
        // A SYN that is answered by a RST never became a connection (RFC 9293 section 3.5.2), as the proxy reports it live. A
        // client that acknowledged the server's SYN had one, whether that SYN was captured or not.
        if reset.by == .fromServer, sides.fromClient.marks.contains(.synSeen),
            sides.fromServer.marks.isDisjoint(with: [.started, .ackSeen])
        {
            return close(.connectFailed, by: reset.by, at: time, &shared)
        }
        for direction in Direction.allCases { missAcknowledged(direction, at: reset.time, &shared) }
        finish(reset.by, .reset, at: reset.time, &shared)
        close(.reset, by: reset.by, at: max(time, sides.fromClient.lastTime, sides.fromServer.lastTime), &shared)
    }

    /// The source has nothing more for this connection.
    mutating func end(_ shared: inout ReassemblyState) {
        guard state == .open else { return }
        if reset != nil { return settleReset(&shared) }
        flush(.fromClient, &shared)
        guard state == .open else { return }
        flush(.fromServer, &shared)
        guard state == .open else { return }
        let time = max(shared.now, sides.fromClient.lastTime, sides.fromServer.lastTime)
        for direction in Direction.allCases { missAcknowledged(direction, at: time, &shared) }
        close(.endOfInput, by: nil, at: time, &shared)
    }

    /// Closes the connection permanently, for a reason other than the peers' FIN or RST.
    ///
    /// - Returns: whether it was closed for that reason, and not by an end that was waiting to be reported.
    mutating func abandon(_ reason: CloseReason, at time: Timestamp, _ shared: inout ReassemblyState) -> Bool {
        if reset != nil { settleReset(&shared) }
        for direction in Direction.allCases where state == .open { flush(direction, &shared) }
        guard state == .open else { return false }
        let time = max(time, sides.fromClient.lastTime, sides.fromServer.lastTime)
        for direction in Direction.allCases { missAcknowledged(direction, at: time, &shared) }
        close(reason, by: nil, at: time, &shared)
        return true
    }

    private mutating func close(
        _ reason: CloseReason, by direction: Direction?, at time: Timestamp, _ shared: inout ReassemblyState
    ) {
        state = .closed
        shared.openCount -= 1
        if isIdle { shared.idleCount -= 1 }
        for direction in Direction.allCases {
            shared.heldCost -= shared.held(sides[direction])?.cost ?? 0
            shared.release(&sides[direction])
        }
        receiver?.closed(Closing(reason: reason, by: direction, time: time))
        receiver = nil
        shared.forgetHistory()
        shared.forgetLost()
        guard !shared.isEnding, reason != .timeout, reason != .evicted else { return }
        shared.note(\.closed, after: shared.options.closedMemory, number: number)
        // Too many to remember: the oldest are forgotten as soon as time advances, or another opens.
        if shared.closed.count > shared.options.closedLimit { shared.nextDeadline = shared.now }
    }
}
