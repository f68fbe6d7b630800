import Streams

/// The most common packet, whose fields are read where they are: TCP in unfragmented IPv4 without options, in an untagged Ethernet
/// frame. What is found is the same as layer by layer.
///
///      0           6           12      14  15      23      26      30      34      46
///     +-----------+-----------+-------+---+--- … --+--- … --+-------+-------+--- … --+---- …
///     |destination|  source   | 0x0800| 45|        | 6      | source| dest. | TCP    |offset
///
struct CommonPacket {
    /// Where the segment begins.
    static let start = 34

    let source: IPAddress
    let destination: IPAddress
    /// The length of the segment, according to IPv4; the capture may hold less, and more after it.
    let length: Int

    /// Nil if a packet of an Ethernet capture is of another kind.
    @inline(__always)
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= 54, bytes.u32(12) >> 8 == 0x08_0045, bytes.u16(20) & 0x3fff == 0,
            bytes[unchecked: 23] == IPProtocol.tcp
        else { return nil }
        length = Int(bytes.u16(16)) &- 20
        let headerLength = Int(bytes[unchecked: 46] >> 4) &* 4
        guard headerLength >= 20, headerLength <= length else { return nil }
        source = IPAddress(v4: bytes.u32(26))
        destination = IPAddress(v4: bytes.u32(30))
    }

    /// Its ends.
    @inline(__always)
    func ends(_ bytes: RawSpan) -> ConnectionEnds {
        ConnectionEnds(unmapped: Endpoint(source, bytes.u16(34)), Endpoint(destination, bytes.u16(36)))
    }
}
