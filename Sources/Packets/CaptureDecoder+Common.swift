import Streams

extension CaptureDecoder {
    /// Fast path for the most common packet of an Ethernet capture: see `CommonPacket`.
    ///
    /// - Returns: whether the packet was of that kind.
    @inline(__always)
    mutating func takeCommon(_ bytes: RawSpan, _ packet: PacketInfo) -> Bool {
        guard let common = CommonPacket(bytes) else { return false }
        guard isOurs(common.source, common.destination) else {
            countSegment()
            return true
        }
        let end = min(CommonPacket.start &+ common.length, bytes.byteCount)
        return take(
            bytes.extracting(unchecked: CommonPacket.start..<end), common.length, from: common.source,
            to: common.destination, packet, identification: bytes.u16(18)) == nil
    }
}
