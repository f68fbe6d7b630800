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
    init?(_ bytes: RawSpan) { self.init(in: bytes, at: 0, byteCount: bytes.byteCount) }

    /// Nil if a packet of an Ethernet capture is of another kind.
    ///
    /// - Parameters:
    ///   - window: bytes that the packet is among.
    ///   - start: where it begins.
    ///   - byteCount: how many bytes it has; that many are in `window`.
    @inline(__always)
    init?(in window: RawSpan, at start: Int, byteCount: Int) {
        // Nothing after offset 54 is read.
        guard byteCount >= 54, window.u32(unchecked: start &+ 12) & 0xffff_ff00 == 0x0800_4500,
            window.u32(unchecked: start &+ 20) & 0x3fff_00ff == UInt32(IPProtocol.tcp)
        else { return nil }
        length = Int(window.u16(unchecked: start &+ 16)) &- 20
        // The upper half of the byte is how many words of four bytes the header has.
        let offset = window[unchecked: start &+ 46]
        guard offset >= 5 << 4, Int(offset & 0xf0) <= length &* 4 else { return nil }
        source = IPAddress(v4: window.u32(unchecked: start &+ 26))
        destination = IPAddress(v4: window.u32(unchecked: start &+ 30))
    }

    /// Its ends.
    @inline(__always)
    func ends(_ bytes: RawSpan) -> ConnectionEnds {
        ConnectionEnds(unmapped: Endpoint(source, bytes.u16(34)), Endpoint(destination, bytes.u16(36)))
    }
}
