import Streams

/// The fields of an IPv6 header and its extension headers that matter here.
///
///      0               4       6   7   8                      24                     40
///     +---------------+-------+---+---+----------------------+----------------------+----
///     |v, class, flow | length|nxt|hop| source               | destination          | extensions
///     +---------------+-------+---+---+----------------------+----------------------+----
///
/// Source: RFC 8200 sections 3 and 4.
struct IPv6Header {
    /// Its source.
    var source: IPAddress
    /// Its destination.
    var destination: IPAddress
    /// What it carries after the extension headers.
    var protocolNumber: UInt8
    /// The length of the header and the extension headers.
    var headerLength: Int
    /// How many bytes the datagram has, headers included; nil if the field is 0, as with segmentation offload.
    var totalLength: Int?
    /// Where it belongs, if it is a fragment.
    var fragment: FragmentPlace?

    /// Reads the header at the start of `bytes`; nil if truncated or invalid.
    init?(_ bytes: RawSpan) {
        guard bytes.byteCount >= 40, bytes[byte: 0] >> 4 == 6 else { return nil }
        let payloadLength = Int(bytes.u16(4))
        totalLength = payloadLength == 0 ? nil : 40 + payloadLength
        source = IPAddress(v6: bytes.u64(8), bytes.u64(16))
        destination = IPAddress(v6: bytes.u64(24), bytes.u64(32))
        protocolNumber = bytes[byte: 6]
        headerLength = 40
        let end = min(bytes.byteCount, totalLength ?? .max)
        // Each extension is at least 8 bytes long, so the loop terminates.
        while fragment == nil {
            let unit: Int
            switch protocolNumber {
            case 0, 43, 60, 135, 139, 140: unit = 8  // hop-by-hop, routing, destination, mobility, HIP, shim6
            case 51: unit = 4  // authentication header (RFC 4302 section 2.2): length in units of 4, less 2
            case 44: unit = 0
            default: return
            }
            guard end - headerLength >= 8 else { return nil }
            let extensionStart = headerLength
            if unit == 0 {
                let place = bytes.u16(extensionStart + 2)
                // An atomic fragment (RFC 6946) is a whole datagram.
                if place & 0xfff9 != 0 {
                    fragment = FragmentPlace(
                        identification: bytes.u32(extensionStart + 4), offset: Int(place & 0xfff8),
                        hasMore: place & 1 == 1)
                }
                headerLength += 8
            } else {
                let length = Int(bytes[byte: extensionStart + 1])
                headerLength += unit == 4 ? max(8, (length + 2) * 4) : (length + 1) * 8
                guard headerLength <= end else { return nil }
            }
            protocolNumber = bytes[byte: extensionStart]
        }
    }
}
