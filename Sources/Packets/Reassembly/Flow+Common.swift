import Streams

/// The fast path of a common packet, once its connection is found.
extension Flow {
    /// Takes a segment of this connection if it is the next one, and nothing else is to be done.
    ///
    /// - Returns: whether it was taken; if not, nothing has changed.
    @inline(__always)
    mutating func takeNext(
        _ segment: TCPSegment, _ payload: RawSpan, from direction: Direction, _ packet: PacketStamp,
        _ shared: inout ReassemblyState
    ) -> Bool {
        guard state == .open, shared.now <= quietAt,
            packets >= Self.reportedFirst, packet.time >= reportedUntil,
            !hasPause(at: packet.time, of: shared.reportedPause),
            takeInOrder(segment, payload, from: direction, packet, notices: shared.options.notices)
        else { return false }
        packets &+= 1
        quietAt = shared.quietAt
        _ = countSkipped(segment, from: direction)
        return true
    }

    // Both directions are accessed by name instead of by subscript, which would copy them.

    /// Takes a segment if it is the next one of its direction and ordinary in every respect, and no RST was seen.
    ///
    /// - Returns: whether it was taken; if not, nothing has changed.
    @inline(__always)
    mutating func takeInOrder(
        _ segment: TCPSegment, _ payload: RawSpan, from direction: Direction, _ packet: PacketStamp, notices: Bool
    ) -> Bool {
        guard reset == nil else { return false }
        return direction == .fromClient
            ? sides.fromClient.takeNext(
                segment, payload, from: .fromClient, other: &sides.fromServer, packet, receiver, notices: notices)
            : sides.fromServer.takeNext(
                segment, payload, from: .fromServer, other: &sides.fromClient, packet, receiver, notices: notices)
    }

    /// The stream offset of a direction's next byte.
    @inline(__always)
    func offset(of direction: Direction) -> Int {
        direction == .fromClient ? sides.fromClient.offset : sides.fromServer.offset
    }

    /// How many packets of its sender before a segment were not captured; nil if unknown.
    @inline(__always)
    mutating func countSkipped(_ segment: TCPSegment, from direction: Direction) -> UInt16? {
        direction == .fromClient
            ? sides.fromClient.identifications.take(segment.identification)
            : sides.fromServer.identifications.take(segment.identification)
    }
}
