import Streams

/// Whether a segment between the same two endpoints belongs to the known connection.
extension Flow {
    /// Whether a segment starts another connection that replaces this one.
    func isReplaced(by segment: TCPSegment, from direction: Direction, _ shared: ReassemblyState) -> Bool {
        if state == .closed {
            if disprovesReset(segment, from: direction) { return true }
            if isForeignData(segment, from: direction, shared) { return true }
            // Who did not accept the RST goes on.
            if segment.payloadLength > 0, followsInexactReset(segment, from: direction) { return true }
        }
        guard segment.flags.contains(.syn), !segment.flags.contains(.rst) else { return false }
        let (side, other) = (sides[direction], sides[direction.opposite])
        let first = segment.sequence &+ 1
        if segment.flags.contains(.ack) {
            // A SYN-ACK with another number: it belongs to another connection, whose SYN was not captured, if this one is over,
            // or if the SYN that it acknowledges was not of this one either: a restarted server may answer again.
            if state == .closed, side.marks.contains(.synSeen), side.startSequence != first { return true }
            if answersRepeatedSYN(segment, from: direction, shared) { return true }
            return isFar(first, from: direction, shared) == true
                && isFar(segment.acknowledgment, from: direction.opposite, shared) == true
        }
        if isTriedAgain(by: segment, from: direction) {
            // Bytes that came before it are of a connection that is over.
            return state == .closed || other.offset > 0 || other.isWaiting
                || side.marks.union(other.marks).contains(.finished)
        }
        // Who repeats a SYN has had no answer: what the other side sent without a SYN of its own is of an older connection,
        // unless it acknowledged exactly this SYN. A RST in between need not have been valid here: it has a number of that one.
        if side.hasOnlySYN, side.startSequence == first, !side.marks.contains(.ackSeen),
            !other.marks.contains(.started), other.isWaiting
        {
            return true
        }
        if side.marks.contains(.started) {
            // The SYN-ACK came first, and acknowledged bytes that the SYN carried (RFC 7413).
            let brought = Int(Int32(bitPattern: side.startSequence &- first))
            if !side.marks.contains(.synSeen), side.offset == 0, (0..<1 << 16).contains(brought) { return false }
            return side.startSequence != first
        }
        if reset != nil { return true }
        if let held = shared.held(side) {
            // Segments after a SYN may overtake it, but not also the acknowledgment of the SYN, nor the end of the stream.
            if held.fin != nil || side.marks.contains(.ackSeen) && Int32(bitPattern: side.acknowledged &- first) > 0 {
                return true
            }
            return !(0...overtaking).contains(held.earliest - side.position(of: first))
        }
        // Nothing of this side was seen: its SYN may have been overtaken by the SYN-ACK, or both sides may have opened
        // simultaneously.
        guard state == .open, sides[direction.opposite].marks.contains(.synSeen) else { return true }
        if side.marks.contains(.ackSeen) {
            return !(0...overtaking).contains(Int(Int32(bitPattern: side.acknowledged &- first)))
        }
        return false
    }

    /// Whether a segment is the same SYN again after a RST that came before the handshake was complete: its sender tries again,
    /// because the other side still had an older connection (RFC 9293 section 3.5.1), or refused this one.
    func isTriedAgain(by segment: TCPSegment, from direction: Direction) -> Bool {
        let (side, other) = (sides[direction], sides[direction.opposite])
        return reset != nil && segment.flags.contains(.syn) && segment.flags.isDisjoint(with: [.ack, .rst])
            && side.hasOnlySYN && side.startSequence == segment.sequence &+ 1
            && !other.marks.isSuperset(of: [.synSeen, .ackSeen])
    }

    /// Whether a segment is the connection's SYN again, after bytes were passed on.
    func isRepeatedLate(_ segment: TCPSegment, from direction: Direction) -> Bool {
        let side = sides[direction]
        return direction == .fromClient && !segment.flags.contains(.ack)
            && side.marks.contains(.synSeen) && side.startSequence == segment.sequence &+ 1
            && (side.offset > 0 || sides[direction.opposite].offset > 0)
    }

    /// Whether a SYN-ACK answers a SYN that had the number of this connection's, but was another's: a device that restarts may
    /// begin with the same number again, and from the same port. Who answers it begins with another.
    func answersRepeatedSYN(_ segment: TCPSegment, from direction: Direction, _ shared: ReassemblyState) -> Bool {
        hasRepeatedSYN && direction == .fromServer && state == .open
            && segment.flags.intersection([.syn, .ack]) == [.syn, .ack]
            && segment.acknowledgment == sides.fromClient.startSequence
            && isFar(segment.sequence &+ 1, from: direction, shared) == true
    }

    /// Forgets acknowledgments that are in doubt: they are numbers of an older connection.
    mutating func forgetDoubted() {
        for direction in Direction.allCases { sides[direction].marks.remove(.ackDoubted) }
    }

    /// How many bytes may have overtaken the SYN before them.
    private var overtaking: Int { 1 << 16 }

    /// Whether a segment that comes after the connection was closed carries bytes of another, whose SYN was not captured.
    private func isForeignData(_ segment: TCPSegment, from direction: Direction, _ shared: ReassemblyState) -> Bool {
        segment.payloadLength > 0 && segment.flags.intersection([.syn, .rst, .ack]) == .ack
            && isFar(segment.sequence, from: direction, shared) != false
            && isFar(segment.acknowledgment, from: direction.opposite, shared) != false
    }

    /// Whether a sequence number is far from all those that a direction is known to have used; nil if none are known.
    private func isFar(_ number: UInt32, from direction: Direction, _ shared: ReassemblyState) -> Bool? {
        // As much may have been sent, or lie before the part that was captured. Initial numbers that a host takes from its clock
        // (RFC 9293 section 3.4.1) are farther apart after some seconds.
        let margin = 1 << 20
        let side = sides[direction]
        if let end = knownEnd(of: direction, shared) {
            return !(-margin...end + margin).contains(side.position(of: number))
        }
        guard !side.marks.isDisjoint(with: [.ackSeen, .ackDoubted]) else { return nil }
        return !(-margin...margin).contains(Int(Int32(bitPattern: number &- side.acknowledged)))
    }

    /// Whether a segment that comes after the connection was closed carries bytes that were never passed on.
    func bringsMore(_ segment: TCPSegment, from direction: Direction) -> Bool {
        let side = sides[direction]
        guard segment.payloadLength > 0 else { return false }
        guard side.marks.contains(.started) else { return true }
        let position = side.position(of: segment.flags.contains(.syn) ? segment.sequence &+ 1 : segment.sequence)
        // One byte at the FIN's number is a keep-alive (RFC 9293 section 3.8.4).
        if segment.payloadLength == 1, position == side.offset, side.marks.contains(.finished) { return false }
        return position < 0 || position + segment.payloadLength > side.offset
    }
}
