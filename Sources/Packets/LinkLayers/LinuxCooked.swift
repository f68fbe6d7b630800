/// Linux "cooked" captures: of all interfaces at once, or of one without a link layer.
///
/// Source: <https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html> and `…_SLL2.html`.
enum LinuxCooked {
    /// Version 1: packet type (2), ARPHRD type (2), address length (2), address (8), protocol (2).
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 16 else { return .skipped(.malformed) }
        return inside(protocol: bytes.u16(14), hardware: bytes.u16(2), at: 16)
    }

    /// Version 2: protocol (2), reserved (2), interface (4), ARPHRD type (2), packet type (1), address length (1), address (8).
    static func read2(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 20 else { return .skipped(.malformed) }
        return inside(protocol: bytes.u16(0), hardware: bytes.u16(8), at: 20)
    }

    private static func inside(protocol type: UInt16, hardware: UInt16, at offset: Int) -> Inside {
        switch hardware {
        case 803: .layer(.radiotap, at: offset)
        case 824: .skipped(.notIP)  // netlink: the protocol is not an Ethernet type
        default:
            switch type {
            case 4: .layer(.llc, at: offset)  // LINUX_SLL_P_802_2
            case ..<0x0600: .skipped(.notIP)
            default: EtherType.inside(type, at: offset)
            }
        }
    }
}
