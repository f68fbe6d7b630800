import Streams

/// A stack of MPLS labels of 4 bytes each; bit 0 of the third marks the last. Source: RFC 3032 section 2.1.
enum MPLS {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 5 else { return .skipped(.malformed) }
        guard bytes[byte: 2] & 1 == 1 else { return .layer(.mpls, at: 4) }
        // Nothing identifies the next layer: IP starts with its version, a pseudowire with a control word of zeros (RFC 4385
        // section 3).
        switch bytes[byte: 4] >> 4 {
        case 4: return .layer(.ipv4, at: 4)
        case 6: return .layer(.ipv6, at: 4)
        case 0 where bytes.byteCount >= 22: return .layer(.ethernet, at: 8)
        default: return .layer(.ethernet, at: 4)
        }
    }
}
