import Streams

/// Where a datagram goes in the end whose sender has determined the route: the destination in its header is only the next stop.
///
/// The final destination identifies the connection, and is in TCP's checksum (RFC 9293 section 3.1, RFC 8200 section 8.1).
enum SourceRoute {
    /// The last address of a loose or strict source route option that still has stops left; nil if there is none.
    ///
    /// Type (131 or 137), length, pointer to the next stop (from 1), addresses. Source: RFC 791 section 3.1.
    ///
    /// - Parameters:
    ///   - bytes: an IPv4 packet.
    ///   - headerLength: the length of its header, which is all there.
    @inline(never)
    static func finalDestination(ofIPv4 bytes: RawSpan, _ headerLength: Int) -> IPAddress? {
        var at = 20
        while at < headerLength {
            switch bytes[byte: at] {
            case 0: return nil
            case 1: at += 1
            case let type:
                guard at + 1 < headerLength else { return nil }
                let length = Int(bytes[byte: at + 1])
                guard length >= 2, at + length <= headerLength else { return nil }
                if type == 131 || type == 137 {
                    guard length >= 7, bytes[byte: at + 2] <= length else { return nil }
                    return IPAddress(v4: bytes.u32(at + length - 4))
                }
                at += length
            }
        }
        return nil
    }

    /// The final address of a routing header that still has segments left; nil if there is none.
    ///
    /// Next header, length, type, segments left, and from byte 8 on addresses: the final one comes last (types 0 and 2), or first
    /// (type 4). Source: RFC 2460 section 4.4, RFC 6275 section 6.4, RFC 8754 section 2.
    ///
    /// - Parameter header: all of it.
    @inline(never)
    static func finalDestination(ofRoutingHeader header: RawSpan) -> IPAddress? {
        guard header.byteCount >= 24, header[byte: 3] > 0 else { return nil }
        let place: Int
        switch header[byte: 2] {
        case 0, 2: place = (header.byteCount - 8) / 16 * 16 - 8
        case 4: place = 8
        default: return nil
        }
        return IPAddress(v6: header.u64(place), header.u64(place + 8))
    }
}
