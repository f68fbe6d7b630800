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
            recent.place < table.flows.count, recent.hasNumber(table.flows[recent.place].number),
            table.flows[recent.place].takeNext(
                segment, payload, from: recent.direction, PacketStamp(time: time, number: packet), &shared)
        else { return false }
        shared.current = recent.id
        if shared.options.conflictHistory > 0 {
            let end = table.flows[recent.place].offset(of: recent.direction)
            shared.record(payload, at: end &- payload.byteCount, from: recent.direction)
        }
        return true
    }
}
