/// Protocol numbers of Ethernet, which most link layers and tunnels use.
///
/// Source: IANA "IEEE 802 Numbers".
enum EtherType {
    /// The layer that a protocol number identifies, at an offset.
    @inline(__always)
    static func inside(_ type: UInt16, at offset: Int) -> Inside {
        switch type {
        case 0x0800: .layer(.ipv4, at: offset)
        case 0x86dd: .layer(.ipv6, at: offset)
        default: others(type, at: offset)
        }
    }

    private static func others(_ type: UInt16, at offset: Int) -> Inside {
        switch type {
        case 0x8100, 0x88a8, 0x9100, 0x9200, 0x9300: .layer(.vlan, at: offset)
        case 0x8847, 0x8848: .layer(.mpls, at: offset)
        case 0x8864: .layer(.pppoe, at: offset)
        case 0x880b: .layer(.ppp, at: offset)
        case 0x6558: .layer(.ethernet, at: offset)  // transparent Ethernet bridging
        case 0x88be: .layer(.erspan2, at: offset)
        case 0x22eb: .layer(.erspan3, at: offset)
        case 0x0806, 0x8035: .skipped(.arp)
        default: .skipped(.notIP)
        }
    }
}
