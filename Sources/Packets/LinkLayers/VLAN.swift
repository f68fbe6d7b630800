/// A VLAN tag: priority and identifier (2), then the protocol (2). Source: IEEE 802.1Q section 9.
enum VLAN {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 4 else { return .skipped(.malformed) }
        return Ethernet.typeOrLength(bytes.u16(2), at: 4)
    }
}
