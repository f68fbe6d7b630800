import Streams

/// Segments off the fast path: control bits, reordering, retransmission, mid-stream pickup.
extension Flow {
    mutating func takeUncommon(
        _ segment: TCPSegment, _ payload: RawSpan, from direction: Direction, _ packet: PacketStamp,
        _ shared: inout ReassemblyState
    ) {
        var sequence = segment.sequence
        if segment.flags.contains(.syn) {
            takeSYN(segment, from: direction, &shared)
            if segment.flags.contains(.ack) { takeAnsweredSYN(segment, from: direction, &shared) }
            if shared.options.notices {
                receiver?.noticed(.synchronised, from: direction, at: packet.time, packet: packet.number)
            }
            sequence &+= 1  // the SYN occupies one sequence number
        }
        let isRepeated = reset != nil && sides[direction.opposite].isAcknowledged(segment.acknowledgment)
        if segment.flags.contains(.ack) { acknowledge(segment, by: direction, packet, &shared) }
        if segment.flags.contains(.rst) {
            takeReset(segment, from: direction, packet, &shared)
            // A RST may carry text for humans (RFC 9293 section 3.5.3). No program ever reads it, but it was sent at a position
            // in the stream: better shown than skipped.
            if segment.payloadLength > 0, state == .open, reset?.by == direction {
                takePayload(sequence, segment, payload, from: direction, packet, &shared)
            }
            return
        }
        sides[direction].takeWindow(segment.window, from: direction, packet, receiver)
        guard state == .open else { return }
        if disprovesReset(segment, from: direction) || isChallenge(segment, from: direction, isRepeated: isRepeated) {
            reset = nil
        }
        if payload.byteCount == 0 { takeNumber(sequence, from: direction, at: packet.time, &shared) }
        guard state == .open else { return }
        if segment.payloadLength > 0 || segment.flags.contains(.fin) {
            takePayload(sequence, segment, payload, from: direction, packet, &shared)
        }
        if sides[direction].isWaiting { review(direction, &shared) }
        if state == .open, sides[direction.opposite].isWaiting { review(direction.opposite, &shared) }
        if state == .open { closeIfFinished(&shared) }
    }

    /// Takes the initial sequence number of a direction.
    private mutating func takeSYN(_ segment: TCPSegment, from direction: Direction, _ shared: inout ReassemblyState) {
        let first = segment.sequence &+ 1
        // It comes before its sender acknowledges anything, and again only if nobody answered it.
        forgetDoubted()
        if isTriedAgain(by: segment, from: direction) {
            // Nothing came of what was before the RST: what was acknowledged then are numbers of an older connection.
            reset = nil
            for side in Direction.allCases { sides[side].marks.remove(.ackSeen) }
        }
        if isRepeatedLate(segment, from: direction) { hasRepeatedSYN = true }
        sides[direction].windowScale = segment.windowScale
        if !segment.isSynthetic { sides[direction].marks.insert(.hasPackets) }
        if segment.window >= SendingSide.tinyWindow { sides[direction].marks.insert(.offeredRoom) }
        if sides[direction].marks.contains(.started) {
            // A restarted server answers with another number; nothing of the old stream was ever taken.
            let isFresh = sides[direction].offset == 0 && !sides[direction].isWaiting
            if isFresh, !sides[direction].marks.contains(.finished) { sides[direction].next = first }
            if isFresh || sides[direction].startSequence == first { sides[direction].marks.insert(.synSeen) }
        } else if let held = shared.held(sides[direction]) {
            // The SYN was overtaken by later segments.
            guard sides[direction].position(of: first) <= held.earliest else { return }
            settle(direction, at: first, &shared)
            sides[direction].marks.insert(.synSeen)
            drain(direction, &shared)
        } else {
            sides[direction].next = first
            sides[direction].marks.formUnion([.started, .synSeen])
        }
    }

    /// Takes the other side's initial sequence number from a SYN-ACK: if the SYN was not captured, or is recorded after the
    /// SYN-ACK, the stream is complete all the same (RFC 9293 section 3.5).
    private mutating func takeAnsweredSYN(
        _ segment: TCPSegment, from direction: Direction, _ shared: inout ReassemblyState
    ) {
        let (other, first) = (direction.opposite, segment.acknowledgment)
        guard state == .open, !sides[other].marks.contains(.started) else { return }
        if let held = shared.held(sides[other]) {
            guard sides[other].position(of: first) <= held.earliest else { return }
            settle(other, at: first, &shared)
            drain(other, &shared)
        } else {
            sides[other].next = first
            sides[other].marks.insert(.started)
        }
    }

    /// Takes a segment's bytes and FIN.
    private mutating func takePayload(
        _ sequence: UInt32, _ segment: TCPSegment, _ payload: RawSpan, from direction: Direction,
        _ packet: PacketStamp, _ shared: inout ReassemblyState
    ) {
        if !sides[direction].marks.contains(.started) {
            // A FIN without bytes ends a direction of which nothing was captured.
            if !sides[direction].isWaiting {
                // Even if everything before it is acknowledged: a capture may have packets in a different order than on the wire.
                sides[direction].next = sequence
                let held = shared.hold(&sides[direction], direction, number: number)
                shared.note(\.pickups, after: shared.options.pickupGrace, number: number)
                held.grace = HeldSide.Grace(
                    deadline: shared.now + shared.options.pickupGrace,
                    packets: packets &+ shared.options.gapGracePackets, acknowledged: sequence)
            }
        }
        let position = sides[direction].position(of: sequence)
        if segment.flags.contains(.fin), !sides[direction].marks.contains(.finished) {
            takeFIN(at: position + segment.payloadLength, from: direction, packet, &shared)
        }
        if payload.byteCount > 0 {
            takeBytes(payload, at: position, from: direction, packet, &shared)
        }
        finishIfComplete(direction, &shared)
    }

    /// Takes bytes at an offset of the stream.
    private mutating func takeBytes(
        _ payload: RawSpan, at position: Int, from direction: Direction, _ packet: PacketStamp,
        _ shared: inout ReassemblyState
    ) {
        dropContradictedFIN(direction, by: position..<position + payload.byteCount, &shared)
        let side = sides[direction]
        let isStarted = side.marks.contains(.started)
        var count = payload.byteCount
        let fin = side.marks.contains(.finished) ? side.offset : shared.held(side)?.fin?.offset
        if let fin, position + count > fin {  // nothing follows a FIN
            let firstAfter = max(position, fin)
            // One byte at the FIN's number is a keep-alive (RFC 9293 section 3.8.4).
            if isStarted, position != fin || count > 1 {
                receiver?.noticed(
                    .afterEnd(offset: firstAfter, byteCount: position + count - firstAfter), from: direction,
                    at: packet.time, packet: packet.number)
            }
            count = fin - position
        }
        var skipped = 0
        if isStarted, position < side.offset, count > 0 {
            skipped = min(count, side.offset - position)
            // One byte before the next is a keep-alive, too; captured again later, it is any byte that was acknowledged.
            let isKeepAlive = position == side.offset - 1 && count == 1
            let end = side.next &- UInt32(truncatingIfNeeded: side.offset - position - 1)
            if !isKeepAlive {
                takeAgain(
                    payload.extracting(0..<skipped), at: position,
                    mayBeKeepAlive: payload.byteCount == 1 && side.isAcknowledged(end), from: direction, packet, &shared
                )
            }
        }
        guard count > skipped else { return }
        let fresh = payload.extracting(skipped..<count)
        let start = position + skipped
        if isStarted, start == side.offset, let held = shared.held(side), !held.segments.isEmpty,
            held.segments.firstTime < packet.time
        {
            receiver?.noticed(
                .overtaken(since: held.segments.firstTime), from: direction, at: packet.time, packet: packet.number)
        }
        if isStarted, start == side.offset, start + fresh.byteCount <= shared.held(side)?.segments.firstStart ?? .max {
            deliver(fresh, from: direction, at: packet.time, packet.number, &shared)
            drain(direction, &shared)
        } else {
            hold(fresh, at: start, from: direction, packet, &shared)
        }
    }

    /// Holds bytes until those before them arrive.
    private mutating func hold(
        _ bytes: RawSpan, at start: Int, from direction: Direction, _ packet: PacketStamp,
        _ shared: inout ReassemblyState
    ) {
        let held = shared.hold(&sides[direction], direction, number: number)
        let before = held.cost
        let receiver = receiver
        let isStarted = sides[direction].marks.contains(.started)
        let policy = shared.options.overlap
        held.segments.insert(bytes, at: start, time: packet.time, packet: packet.number, policy: policy) {
            range, other in
            guard let receiver else { return }
            let report = { (byteCount: Int, notice: @escaping (Int) -> StreamNotice) in
                if isStarted {
                    receiver.noticed(
                        notice(start + range.lowerBound), from: direction, at: packet.time, packet: packet.number)
                } else {
                    let early = HeldSide.EarlyNotice(offset: start + range.lowerBound, packet: packet, notice: notice)
                    held.keep(early, byteCount: byteCount)
                }
            }
            report(0) { .retransmitted(offset: $0, byteCount: range.count) }
            let again = bytes.extracting(range)
            guard !again.elementsEqual(other) else { return }
            let isFirst = policy == .first
            let (kept, lost) = (isFirst ? other.copied() : again.copied(), isFirst ? again.copied() : other.copied())
            report(kept.count + lost.count) { .conflict(offset: $0, kept: kept, other: lost) }
        }
        shared.heldCost += held.cost - before
        if sides[direction].marks.contains(.started) { drain(direction, &shared) }
        while let held = shared.held(sides[direction]), !held.segments.isEmpty,
            held.segments.byteCount > shared.options.reorderingLimit
                || held.segments.count > shared.options.reorderingSegmentLimit
                || shared.heldCost > shared.options.totalReorderingLimit
        {
            if shared.heldCost > shared.options.totalReorderingLimit {
                // Time has not advanced: the largest holder is evicted as soon as it does.
                shared.reachedLimit = true
                reportEviction(of: held.segments.byteCount, from: direction, &shared)
            }
            passGap(direction, &shared)
        }
        if shared.isNearMemoryLimit { shared.nextDeadline = min(shared.nextDeadline, shared.now) }
    }
}
