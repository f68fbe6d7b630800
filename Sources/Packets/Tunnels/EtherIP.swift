/// Ethernet in IP: version 3 and 12 zero bits. Source: RFC 3378.
enum EtherIP {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 2, bytes.u16(0) == 0x3000 else { return .skipped(.malformed) }
        return .layer(.ethernet, at: 2)
    }
}
