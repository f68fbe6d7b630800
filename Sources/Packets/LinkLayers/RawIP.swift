import Streams

/// IP without a link layer: the version field decides which.
enum RawIP {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 1 else { return .skipped(.malformed) }
        switch bytes[byte: 0] >> 4 {
        case 4: return .layer(.ipv4, at: 0)
        case 6: return .layer(.ipv6, at: 0)
        default: return .skipped(.notIP)
        }
    }
}
