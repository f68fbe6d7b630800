import Streams

extension CaptureDecoder {
    /// Fast path for the most common packet: TCP in unfragmented IPv4 without options, in an untagged Ethernet frame. The result
    /// is the same as decoding layer by layer.
    ///
    ///      0           6           12      14  15      23      26      30      34      46
    ///     +-----------+-----------+-------+---+--- … --+--- … --+-------+-------+--- … --+---- …
    ///     |destination|  source   | 0x0800| 45|        | 6      | source| dest. | TCP    |offset
    ///
    /// - Returns: whether the packet was of that kind.
    @inline(__always)
    mutating func takeCommon(_ bytes: RawSpan, _ packet: PacketInfo) -> Bool {
        guard bytes.byteCount >= 54, bytes.u32(12) >> 8 == 0x08_0045, bytes.u16(20) & 0x3fff == 0,
            bytes[unchecked: 23] == IPProtocol.tcp
        else { return false }
        let length = Int(bytes.u16(16)) &- 20
        let headerLength = Int(bytes[unchecked: 46] >> 4) &* 4
        guard headerLength >= 20, headerLength <= length else { return false }
        let source = IPAddress(v4: bytes.u32(26))
        let destination = IPAddress(v4: bytes.u32(30))
        guard isOurs(source, destination) else {
            countSegment()
            return true
        }
        let end = min(34 &+ length, bytes.byteCount)
        return take(
            bytes.extracting(unchecked: 34..<end), length, from: source, to: destination, packet,
            identification: bytes.u16(18)) == nil
    }
}
