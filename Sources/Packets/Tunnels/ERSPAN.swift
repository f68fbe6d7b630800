/// Mirrored Ethernet frames in GRE. Source: draft-foschiano-erspan, sections 4.2 and 4.3.
enum ERSPAN {
    /// Type II: a header of 8 bytes.
    static func read2(_ bytes: RawSpan) -> Inside {
        .layer(.ethernet, at: 8)
    }

    /// Type III: a header of 12 bytes, and 8 more if the lowest bit is set.
    static func read3(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 12 else { return .skipped(.malformed) }
        return .layer(.ethernet, at: bytes.u16(10) & 1 == 1 ? 20 : 12)
    }
}
