import Streams

/// Bytes before those already passed on: retransmitted or late.
extension Flow {
    /// Takes bytes that lie before the stream's position: reports which are late, and which differ from those passed on.
    ///
    /// - Parameter mayBeKeepAlive: whether it is a single byte that had been acknowledged: a keep-alive may have any value (RFC
    ///   9293 section 3.8.4).
    func takeAgain(
        _ payload: RawSpan, at position: Int, mayBeKeepAlive: Bool, from direction: Direction, _ packet: PacketStamp,
        _ shared: inout ReassemblyState
    ) {
        guard let receiver else { return }
        var start = position
        if start < 0 {
            // Bytes may precede the first byte of a stream picked up mid-stream; those before a SYN are of an older connection.
            let early = min(payload.byteCount, -start)
            let isAtSYN = start == -1 && sides[direction].marks.contains(.synSeen)
            if !(isAtSYN && mayBeKeepAlive) {
                receiver.noticed(
                    .late(offset: start, bytes: payload.copied(0..<early)), from: direction, at: packet.time,
                    packet: packet.number)
            }
            start += early
        }
        let end = position + payload.byteCount
        for late in shared.find(start..<end, from: direction) {
            if start < late.lowerBound {
                compare(
                    payload, position, start..<late.lowerBound, mayBeKeepAlive: mayBeKeepAlive, from: direction, packet,
                    shared)
            }
            receiver.noticed(
                .late(
                    offset: late.lowerBound,
                    bytes: payload.copied(late.lowerBound - position..<late.upperBound - position)),
                from: direction, at: packet.time, packet: packet.number)
            start = late.upperBound
        }
        if start < end {
            compare(
                payload, position, start..<end, mayBeKeepAlive: mayBeKeepAlive, from: direction, packet, shared)
        }
    }

    /// Reports a range of bytes that were passed on before.
    private func compare(
        _ payload: RawSpan, _ position: Int, _ range: Range<Int>, mayBeKeepAlive: Bool, from direction: Direction,
        _ packet: PacketStamp, _ shared: ReassemblyState
    ) {
        receiver?.noticed(
            .retransmitted(offset: range.lowerBound, byteCount: range.count), from: direction, at: packet.time,
            packet: packet.number)
        guard !mayBeKeepAlive else { return }
        let again = payload.extracting(range.lowerBound - position..<range.upperBound - position)
        shared.history(direction)?.compare(again, at: range.lowerBound) { offset, kept, other in
            receiver?.noticed(
                .conflict(offset: offset, kept: kept.copied(), other: other.copied()), from: direction, at: packet.time,
                packet: packet.number)
        }
    }
}

/// Ranges declared missing in a direction, in order; bounded, so that no capture makes it grow.
struct LostRanges {
    private static let limit = 64

    private var ranges: [Range<Int>] = []

    /// Appends a range; if there are too many, the first are forgotten.
    mutating func append(_ range: Range<Int>) {
        if ranges.count == LostRanges.limit { ranges.removeFirst() }
        ranges.append(range)
    }

    /// Removes and returns the missing parts of a range.
    mutating func remove(_ range: Range<Int>) -> [Range<Int>] {
        let found = ranges.map { $0.clamped(to: range) }.filter { !$0.isEmpty }
        guard !found.isEmpty else { return [] }
        ranges = ranges.flatMap { lost in
            guard lost.overlaps(range) else { return [lost] }
            return [
                lost.lowerBound..<max(lost.lowerBound, range.lowerBound),
                min(lost.upperBound, range.upperBound)..<lost.upperBound,
            ].filter { !$0.isEmpty }
        }
        if ranges.count > LostRanges.limit { ranges.removeFirst(ranges.count - LostRanges.limit) }
        return found
    }
}

extension ReassemblyState {
    /// Remembers that bytes of the current connection were declared missing.
    mutating func lose(_ range: Range<Int>, from direction: Direction) {
        guard !isEnding else { return }
        let place = current * 2 + Int(direction.rawValue)
        // All are dropped at the limit: which of them will be filled late cannot be known.
        if lost.count >= options.lostLimit, lost[place] == nil {
            reachedLimit = true
            lost.removeAll()
        }
        lost[place, default: LostRanges()].append(range)
    }

    /// The parts of a range that were declared missing and arrive now; they are late only once.
    mutating func find(_ range: Range<Int>, from direction: Direction) -> [Range<Int>] {
        guard !lost.isEmpty, !range.isEmpty else { return [] }
        return lost[current * 2 + Int(direction.rawValue)]?.remove(range) ?? []
    }

    /// Forgets what the current connection lost.
    mutating func forgetLost() {
        guard !lost.isEmpty else { return }
        for direction in Direction.allCases { lost[current * 2 + Int(direction.rawValue)] = nil }
    }
}
