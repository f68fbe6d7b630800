import Streams

extension CaptureDecoder {
    /// Fast path for the most common packet of an Ethernet capture: see `CommonPacket`.
    ///
    /// - Returns: whether the packet was of that kind.
    @inline(__always)
    mutating func takeCommon(_ bytes: RawSpan, _ packet: PacketInfo) -> Bool {
        guard let common = CommonPacket(bytes) else { return false }
        if triesNext(packet.number), takeNext(bytes, common, number: packet.number) { return true }
        guard isOurs(common.source, common.destination) else {
            countSegment()
            return true
        }
        let end = min(CommonPacket.start &+ common.length, bytes.byteCount)
        return take(
            bytes.extracting(unchecked: CommonPacket.start..<end), common.length, from: common.source,
            to: common.destination, packet,
            identification: bytes.u16(18)) == nil
    }

    /// Takes packets for as long as they are the next segments of known connections. With shares just one at a time: packets of other
    /// shares, which are passed over, may follow.
    @inline(__always)
    package mutating func receiveCommon(
        _ window: RawSpan, from at: inout Int, after number: Int, record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int {
        guard !verifiesChecksums else { return 0 }
        var taken = 0
        while triesNext(number &+ taken &+ 1), let record = record(at),
            let common = CommonPacket(in: window, at: record.start, byteCount: record.captured)
        {
            // If it has to be received otherwise, time advances no further then.
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
}
