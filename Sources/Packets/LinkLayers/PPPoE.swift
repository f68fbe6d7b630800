import Streams

/// A PPPoE session: version and type (1), code (1), session (2), length (2), PPP. Source: RFC 2516 section 4.
enum PPPoE {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 6 else { return .skipped(.malformed) }
        guard bytes[byte: 1] == 0 else { return .skipped(.notIP) }
        return .layer(.ppp, at: 6, end: 6 + Int(bytes.u16(4)))
    }
}
