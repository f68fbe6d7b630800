import Streams

/// The Point-to-Point Protocol. Source: RFC 1661 section 2, RFC 1662 section 3.1.
enum PPP {
    /// A protocol number, one byte if that byte is odd (RFC 1661 section 6.5).
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 2 else { return .skipped(.malformed) }
        let isShort = bytes[byte: 0] & 1 == 1
        let offset = isShort ? 1 : 2
        switch isShort ? UInt16(bytes[byte: 0]) : bytes.u16(0) {
        case 0x0021: return .layer(.ipv4, at: offset)
        case 0x0057: return .layer(.ipv6, at: offset)
        case 0x0281, 0x0283: return .layer(.mpls, at: offset)
        case 0x0053: return .skipped(.encrypted)
        default: return .skipped(.notIP)
        }
    }

    /// In HDLC-like framing: address 0xff and control 3, unless omitted; or Cisco HDLC.
    static func readInHDLC(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 2 else { return .skipped(.malformed) }
        switch bytes.u16(0) {
        case 0xff03: return .layer(.ppp, at: 2)
        case 0x0f00, 0x8f00: return .layer(.ciscoHDLC, at: 0)
        default: return .layer(.ppp, at: 0)
        }
    }
}
