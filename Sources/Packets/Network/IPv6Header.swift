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
    /// Its destination: the final one, if it has a source route.
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
        let end = min(bytes.byteCount, totalLength ?? .max)
        guard let extensions = IPv6Extensions(bytes, 40..<end, first: bytes[byte: 6]) else { return nil }
        (protocolNumber, headerLength) = (extensions.protocolNumber, extensions.end)
        fragment = extensions.fragment
        if let last = extensions.finalDestination { destination = last }
    }
}

/// The extension headers before what an IPv6 datagram carries, up to a fragment header: what comes after that begins with
/// others only in the datagram's first fragment.
///
/// Source: RFC 8200 section 4.
struct IPv6Extensions {
    /// What comes after them.
    var protocolNumber: UInt8
    /// Where that begins.
    var end: Int
    /// Where it belongs, if it is a fragment.
    var fragment: FragmentPlace?
    /// Where a routing header leads, if the datagram is not there yet.
    var finalDestination: IPAddress?

    /// Reads the extension headers at the start of a range of `bytes`; nil if one is truncated.
    ///
    /// - Parameter first: the protocol number of the first one, or of what comes instead.
    init?(_ bytes: RawSpan, _ range: Range<Int>, first: UInt8) {
        (protocolNumber, end) = (first, range.lowerBound)
        // Each extension is at least 8 bytes long, so the loop terminates.
        while fragment == nil {
            let unit: Int
            switch protocolNumber {
            case 0, 43, 60, 135, 139, 140: unit = 8  // hop-by-hop, routing, destination, mobility, HIP, shim6
            case 51: unit = 4  // authentication header (RFC 4302 section 2.2): length in units of 4, less 2
            case 44: unit = 0
            default: return
            }
            guard range.upperBound - end >= 8 else { return nil }
            let start = end
            if unit == 0 {
                let place = bytes.u16(start + 2)
                // An atomic fragment (RFC 6946) is a whole datagram.
                if place & 0xfff9 != 0 {
                    fragment = FragmentPlace(
                        identification: bytes.u32(start + 4), offset: Int(place & 0xfff8), hasMore: place & 1 == 1)
                }
                end += 8
            } else {
                let length = Int(bytes[byte: start + 1])
                end += unit == 4 ? max(8, (length + 2) * 4) : (length + 1) * 8
                guard end <= range.upperBound else { return nil }
                if protocolNumber == 43,
                    let last = SourceRoute.finalDestination(ofRoutingHeader: bytes.extracting(start..<end))
                {
                    finalDestination = last
                }
            }
            protocolNumber = bytes[byte: start]
        }
    }

    /// What a datagram carries, and where: the payload of one that was fragmented, or of its first fragment, may begin with extension
    /// headers (RFC 8200 section 4.5). In IPv4 there is only the authentication header (RFC 4302).
    ///
    /// - Parameter first: the protocol number of the payload.
    /// - Returns: nil if a header is truncated, or is that of a fragment again.
    static func pass(
        _ payload: RawSpan, first: UInt8, isIPv4: Bool
    ) -> (protocolNumber: UInt8, start: Int)? {
        if isIPv4 {
            var (protocolNumber, start) = (first, 0)
            while protocolNumber == IPProtocol.authenticationHeader {
                guard payload.byteCount - start >= 8 else { return nil }
                let length = max(8, (Int(payload[byte: start + 1]) + 2) * 4)
                guard payload.byteCount - start >= length else { return nil }
                protocolNumber = payload[byte: start]
                start += length
            }
            return (protocolNumber, start)
        }
        guard let extensions = IPv6Extensions(payload, 0..<payload.byteCount, first: first),
            extensions.fragment == nil
        else { return nil }
        return (extensions.protocolNumber, extensions.end)
    }
}
