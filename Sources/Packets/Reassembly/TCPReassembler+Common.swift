import Streams

/// The fast path of a common packet: the next segment of a connection that had one lately.
extension TCPReassembler {
    /// Takes a segment in IPv4, if its connection is known and nothing is to be done but to pass on its bytes.
    ///
    /// - Parameters:
    ///   - segment: its header.
    ///   - payload: the captured part of its payload.
    ///   - time: when it was captured.
    ///   - packet: the number of its packet, from 1.
    /// - Returns: whether it was taken; if not, nothing has changed.
    @inline(__always)
    mutating func takeNext(_ segment: TCPSegment, payload: RawSpan, at time: Timestamp, packet: Int) -> Bool {
        guard leg == nil, annotation == nil,
            let recent = recent.find(RecentFlows.Ends(segment.source, segment.destination)),
            recent.place < table.flows.count, recent.isOf(table.flows[recent.place].number),
            table.flows[recent.place].takeNext(
                segment, payload, from: recent.direction, PacketStamp(time: time, number: packet), &shared)
        else { return false }
        shared.current = recent.id
        return true
    }
}

extension Flow {
    /// Takes a segment of this connection if it is the next one, and nothing else is to be done.
    ///
    /// - Returns: whether it was taken; if not, nothing has changed.
    @inline(__always)
    mutating func takeNext(
        _ segment: TCPSegment, _ payload: RawSpan, from direction: Direction, _ packet: PacketStamp,
        _ shared: inout ReassemblyState
    ) -> Bool {
        guard state == .open, reset == nil, shared.options.conflictHistory <= 0, shared.now <= quietAt,
            packets >= Self.reportedFirst, packet.time >= reportedUntil, !hasPause(at: packet.time)
        else { return false }
        let isNext =
            direction == .fromClient
            ? sides.fromClient.takeNext(
                segment, payload, from: .fromClient, other: &sides.fromServer, packet, receiver,
                notices: shared.options.notices)
            : sides.fromServer.takeNext(
                segment, payload, from: .fromServer, other: &sides.fromClient, packet, receiver,
                notices: shared.options.notices)
        guard isNext else { return false }
        packets &+= 1
        quietAt = shared.quietAt
        if direction == .fromClient {
            _ = sides.fromClient.identifications.take(segment.identification)
        } else {
            _ = sides.fromServer.identifications.take(segment.identification)
        }
        return true
    }
}
