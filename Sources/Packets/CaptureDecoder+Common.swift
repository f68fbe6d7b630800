import Streams

extension CaptureDecoder {
    /// Fast path for the most common packet of an Ethernet capture: see `CommonPacket`.
    ///
    /// - Returns: whether the packet was of that kind.
    @inline(__always)
    mutating func takeCommon(_ bytes: RawSpan, _ packet: PacketInfo) -> Bool {
        guard let common = CommonPacket(bytes) else { return false }
        if beginsFastPath(packet.number), takeNext(bytes, common, number: packet.number) { return true }
        guard isOurs(common.source, common.destination) else {
            countSegment()
            return true
        }
        let end = min(CommonPacket.start &+ common.length, bytes.byteCount)
        return take(
            bytes.extracting(unchecked: CommonPacket.start..<end), common.length, from: common.source,
            to: common.destination, packet, identification: bytes.u16(18)) == nil
    }

    /// Takes packets for as long as they are the next segments of known connections. With shares just one at a time: packets of other
    /// shares, which are passed over, may follow.
    @inline(__always)
    package mutating func receiveCommon(
        _ window: RawSpan, from at: inout Int, after number: Int, record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int {
        guard !verifiesChecksums else { return 0 }
        var taken = 0
        while beginsFastPath(number &+ taken &+ 1), let record = record(at),
            let common = CommonPacket(in: window, at: record.start, byteCount: record.captured)
        {
            // Need not be undone if the segment is refused: `receive` then advances to the same time.
            advance(toPacketAt: record.time)
            let bytes = window.extracting(unchecked: record.start..<record.start &+ record.captured)
            guard takeNext(bytes, common, number: number &+ taken &+ 1) else { break }
            countPacket(record.captured)
            taken &+= 1
            at = record.end
            if passesOver { break }
        }
        return taken
    }

    /// After this many failures in a row, the fast path is tried for one packet in 16 only.
    private static var mostMisses: Int { 8 }

    /// Whether to try the fast path for a packet now, which counts as its one try.
    @inline(__always)
    private mutating func beginsFastPath(_ number: Int) -> Bool {
        guard lastTried != number, misses < Self.mostMisses || number & 15 == 0 else { return false }
        lastTried = number
        return true
    }

    /// Takes a common packet, if its segment is the next one of a connection that is known: it is one of the selected ones.
    ///
    /// - Returns: whether it was taken; if not, nothing has changed.
    @inline(__always)
    mutating func takeNext(_ bytes: RawSpan, _ common: CommonPacket, number: Int) -> Bool {
        let end = min(CommonPacket.start &+ common.length, bytes.byteCount)
        let rest = bytes.extracting(unchecked: CommonPacket.start..<end)
        guard var segment = TCPSegment(rest, length: common.length, from: common.source, to: common.destination) else {
            return false
        }
        segment.identification = bytes.u16(18)
        let start = min(common.length &- segment.payloadLength, rest.byteCount)
        guard
            reassembler.takeNext(
                segment, payload: rest.extracting(unchecked: start..<rest.byteCount), at: time, packet: number)
        else {
            misses &+= 1
            return false
        }
        misses = 0
        countSegment()
        return true
    }
}
