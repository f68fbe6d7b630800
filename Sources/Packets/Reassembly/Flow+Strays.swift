import Streams

/// Segments that their receiver does not accept, because they are forged or of an older connection: their numbers lie far outside
/// of its window (RFC 9293 section 3.10.7.4).
///
/// After packets that were not captured, numbers are far ahead, too. So these segments wait like any that follow a gap. They are
/// dropped once the sender goes on with the numbers before them, and the receiver has acknowledged all of that, but not them.
extension Flow {
    /// The stream offset that no byte of a direction lies after: what is known to have arrived, and the other side's window, or
    /// more, since less is known here than there.
    private func acceptedEnd(of direction: Direction) -> Int {
        let (side, other) = (sides[direction], sides[direction.opposite])
        // Without its SYN, it may have the largest scale (RFC 7323 section 2.3).
        let scale = other.marks.contains(.synSeen) ? Int(other.windowScale) : 14
        return max(side.offset, side.acknowledgedOffset ?? 0) + max(1 << 20, Int(other.window) << scale)
    }

    /// Drops what waits, if its receiver did not accept it.
    mutating func dropStrays(_ direction: Direction, _ shared: inout ReassemblyState) {
        let side = sides[direction]
        guard side.marks.contains(.started), let held = shared.held(side), side.isAcknowledged(side.next) else {
            return
        }
        let end = acceptedEnd(of: direction)
        if let start = held.segments.firstStart, start > end, held.segments.firstTime < side.lastTime {
            let cost = held.segments.cost
            while let segment = held.segments.popFirst() {
                receiver?.noticed(
                    .stray(offset: segment.start, byteCount: segment.count), from: direction, at: side.lastTime,
                    packet: segment.packet)
            }
            held.segments = HeldSegments()
            shared.heldCost -= cost
        }
        if let fin = held.fin {
            let isFar = fin.offset > end && fin.time < side.lastTime
            // Nothing after a FIN is sent, or acknowledged.
            let beyond = side.position(of: side.acknowledged) - fin.offset - 1
            if isFar || (1..<1 << 20).contains(beyond) { held.fin = nil }
        }
        releaseIfEmpty(direction, &shared)
    }

    /// Forgets a FIN that waits, if bytes of its sender show that it was not the sender's: the next ones in order extend beyond
    /// it.
    ///
    /// - Parameter range: the stream offsets of the bytes.
    mutating func dropContradictedFIN(
        _ direction: Direction, by range: Range<Int>, _ shared: inout ReassemblyState
    ) {
        let side = sides[direction]
        guard side.marks.intersection([.started, .finished]) == .started, range.lowerBound == side.offset,
            let held = shared.held(side), let fin = held.fin?.offset, range.contains(fin), fin > side.offset,
            !side.isAcknowledged(side.next &+ UInt32(truncatingIfNeeded: fin + 1 - side.offset))
        else { return }
        held.fin = nil
        releaseIfEmpty(direction, &shared)
    }

    /// Whether a FIN replaces one that waits: that one's number is far outside of the window, and its own is not.
    func replacesFIN(at old: Int, _ offset: Int, from direction: Direction) -> Bool {
        guard sides[direction].marks.contains(.started) else { return false }
        let end = acceptedEnd(of: direction)
        return old > end && offset <= end
    }

    /// Nothing waits any more, if nothing is left; and who sent the first FIN is known again once one is left.
    private mutating func releaseIfEmpty(_ direction: Direction, _ shared: inout ReassemblyState) {
        guard let held = shared.held(sides[direction]) else { return }
        if held.fin == nil, finBy == direction {
            let other = sides[direction.opposite]
            let hasFIN = other.marks.contains(.finished) || shared.held(other)?.fin != nil
            finBy = hasFIN ? direction.opposite : nil
        }
        if held.segments.isEmpty, held.fin == nil { shared.release(&sides[direction]) }
    }
}
