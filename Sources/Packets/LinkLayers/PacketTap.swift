/// Darwin's packet tap: length (4), type (4), link type (4), all little-endian, then the packet of that link type.
///
/// Source: <https://www.tcpdump.org/linktypes.html>, LINKTYPE_PKTAP; XNU `bsd/net/pktap.h`.
enum PacketTap {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 12 else { return .skipped(.malformed) }
        let linkType = LinkType(rawValue: UInt16(truncatingIfNeeded: bytes.u32(8).byteSwapped))
        guard let layer = Layer(linkType) else { return .skipped(.linkType) }
        return .layer(layer, at: max(12, Int(bytes.u32(0).byteSwapped)))
    }
}
