import Streams

/// IEEE 802.2 logical link control, with SNAP: destination and source service access point, control, organization (3), protocol (2).
///
/// Source: RFC 1042.
enum LLC {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 3 else { return .skipped(.llc) }
        let points = bytes.u16(0)
        if points == 0x0606 { return .layer(.rawIP, at: 3) }
        guard points == 0xaaaa, bytes[byte: 2] == 3, bytes.byteCount >= 8 else { return .skipped(.llc) }
        // Organization 0, or 0000f8 for bridge tunnels (IEEE 802.1H): then an Ethernet type.
        let organization = bytes.u32(2) & 0xffffff
        guard organization == 0 || organization == 0xf8 else { return .skipped(.llc) }
        return EtherType.inside(bytes.u16(6), at: 8)
    }
}
