/// Cisco HDLC: address (1), control (1), Ethernet type (2).
///
/// Source: <https://www.tcpdump.org/linktypes.html>, LINKTYPE_C_HDLC.
enum CiscoHDLC {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 4 else { return .skipped(.malformed) }
        return EtherType.inside(bytes.u16(2), at: 4)
    }
}
