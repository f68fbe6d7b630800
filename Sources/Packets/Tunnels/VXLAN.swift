import Streams

/// VXLAN: flags (1), reserved (3), network identifier (3), reserved (1), Ethernet. Source: RFC 7348 section 5.
enum VXLAN {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 8, bytes[byte: 0] & 0x08 != 0 else { return .skipped(.udp) }
        return .layer(.ethernet, at: 8)
    }
}
