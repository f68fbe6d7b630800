import Streams

/// The IPv4 header fields that matter here.
///
///      0   1   2       4       6       8   9   10      12              16              20
///     +---+---+-------+-------+-------+---+---+-------+---------------+---------------+----
///     |v,l|tos| total |identif|flg,off|ttl|prt| check | source        | destination   | options
///     +---+---+-------+-------+-------+---+---+-------+---------------+---------------+----
///
/// Source: RFC 791 section 3.1.
struct IPv4Header {
    /// Its source.
    var source: IPAddress
    /// Its destination: the final one, if it has a source route.
    var destination: IPAddress
    /// What it carries.
    var protocolNumber: UInt8
    /// The length of the header.
    var headerLength: Int
    /// How many bytes the datagram has, header included; nil if the field is 0, as with segmentation offload.
    var totalLength: Int?
    /// Distinguishes it from other packets of its sender.
    var identification: UInt16
    /// Where it belongs, if it is a fragment.
    var fragment: FragmentPlace?

    /// Reads the header at the start of `bytes`; nil if truncated or invalid.
    @inline(__always)
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= 20 else { return nil }
        let first = bytes[byte: 0]
        headerLength = Int(first & 15) &* 4
        let total = Int(bytes.u16(2))
        guard first >> 4 == 4, headerLength >= 20, headerLength <= bytes.byteCount, total == 0 || total >= headerLength
        else { return nil }
        totalLength = total == 0 ? nil : total
        protocolNumber = bytes[byte: 9]
        source = IPAddress(v4: bytes.u32(12))
        destination = IPAddress(v4: bytes.u32(16))
        if headerLength > 20, let last = SourceRoute.finalDestination(ofIPv4: bytes, headerLength) {
            destination = last
        }
        identification = bytes.u16(4)
        let place = bytes.u16(6)
        if place & 0x3fff != 0 {
            fragment = FragmentPlace(
                identification: UInt32(identification), offset: Int(place & 0x1fff) * 8, hasMore: place & 0x2000 != 0)
        }
    }
}

extension IPv4Header {
    /// Whether the checksum over the header at the start of `bytes` is right (RFC 791 section 3.1).
    func hasRightChecksum(_ bytes: RawSpan) -> Bool {
        var sum = InternetSum()
        sum.add(bytes.extracting(0..<headerLength))
        return sum.checksum == 0
    }
}

/// Where a fragment belongs in its datagram.
struct FragmentPlace: Hashable {
    /// The same for all fragments of a datagram between two hosts.
    var identification: UInt32
    /// The offset of its first byte in the datagram's payload.
    var offset: Int
    /// Whether others follow.
    var hasMore: Bool
}
