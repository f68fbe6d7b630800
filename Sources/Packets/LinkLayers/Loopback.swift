/// BSD loopback: the address family as 32 bits, in the order of the host that captured it (OpenBSD: network order).
///
/// Source: <https://www.tcpdump.org/linktypes.html>, LINKTYPE_NULL and LINKTYPE_LOOP.
enum Loopback {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 4 else { return .skipped(.malformed) }
        let loaded = bytes.u32(0)
        // Families are small numbers: the byte order that yields a small number is the writer's.
        switch min(loaded, loaded.byteSwapped) {
        case 2: return .layer(.ipv4, at: 4)
        case 10, 23, 24, 26, 28, 30: return .layer(.ipv6, at: 4)  // Linux, Windows, NetBSD, …, FreeBSD, Darwin
        default: return .skipped(.notIP)
        }
    }
}
