/// A protocol layer.
///
/// **The list of layers.** A new one is a file with a `static func` that reads its header, a case here and a line in `read`.
enum Layer: UInt8 {
    case ethernet, linuxCooked, linuxCooked2, loopback, rawIP, llc, vlan, mpls, pppoe, ppp, pppInHDLC, ciscoHDLC
    case ieee80211, paddedIEEE80211, aggregateMSDU, radiotap, prism, avs, perPacketInformation, netfilterLog, packetTap
    case gre, vxlan, geneve, gtpU, teredo, erspan2, erspan3, etherIP
    case ipv4, ipv6

    /// The layer that packets of a link type begin with.
    init?(_ linkType: LinkType) {
        switch linkType {
        case .ethernet: self = .ethernet
        case .linuxCooked: self = .linuxCooked
        case .linuxCooked2: self = .linuxCooked2
        case .null, .loop: self = .loopback
        case .raw, LinkType(rawValue: 12), LinkType(rawValue: 14): self = .rawIP
        case .ipv4: self = .ipv4
        case .ipv6: self = .ipv6
        case .ppp, .pppHDLC: self = .pppInHDLC
        case .pppEthernet: self = .pppoe
        case .ciscoHDLC: self = .ciscoHDLC
        case .ieee80211: self = .ieee80211
        case .radiotap: self = .radiotap
        case .prism: self = .prism
        case .avs: self = .avs
        case .perPacketInformation: self = .perPacketInformation
        case .mpls: self = .mpls
        case .netfilterLog: self = .netfilterLog
        case .packetTap: self = .packetTap
        default: return nil
        }
    }

    /// Reads the header of this layer and returns which layer comes next, and where.
    ///
    /// IP is not included: `IPv4Header` and `IPv6Header` return more than that. Nor is an A-MSDU, which has several packets in it.
    func read(_ bytes: RawSpan) -> Inside {
        switch self {
        case .ethernet: Ethernet.read(bytes)
        case .linuxCooked: LinuxCooked.read(bytes)
        case .linuxCooked2: LinuxCooked.read2(bytes)
        case .loopback: Loopback.read(bytes)
        case .rawIP: RawIP.read(bytes)
        case .llc: LLC.read(bytes)
        case .vlan: VLAN.read(bytes)
        case .mpls: MPLS.read(bytes)
        case .pppoe: PPPoE.read(bytes)
        case .ppp: PPP.read(bytes)
        case .pppInHDLC: PPP.readInHDLC(bytes)
        case .ciscoHDLC: CiscoHDLC.read(bytes)
        case .ieee80211: IEEE80211.read(bytes)
        case .paddedIEEE80211: IEEE80211.read(bytes, isPadded: true)
        case .radiotap: RadioHeaders.readRadiotap(bytes)
        case .prism: RadioHeaders.readPrism(bytes)
        case .avs: RadioHeaders.readAVS(bytes)
        case .perPacketInformation: RadioHeaders.readPerPacketInformation(bytes)
        case .netfilterLog: NetfilterLog.read(bytes)
        case .packetTap: PacketTap.read(bytes)
        case .gre: GRE.read(bytes)
        case .vxlan: VXLAN.read(bytes)
        case .geneve: GENEVE.read(bytes)
        case .gtpU: GTPU.read(bytes)
        case .teredo: Teredo.read(bytes)
        case .erspan2: ERSPAN.read2(bytes)
        case .erspan3: ERSPAN.read3(bytes)
        case .etherIP: EtherIP.read(bytes)
        case .ipv4, .ipv6, .aggregateMSDU: .skipped(.malformed)
        }
    }
}

/// What a header contains.
enum Inside {
    /// Another layer, starting at an offset, up to the end or an earlier offset.
    case layer(Layer, at: Int, end: Int = .max)
    /// Nothing that could be TCP.
    case skipped(Skipped)
}

/// Why a packet has no TCP segment.
package enum Skipped: String, Sendable, Hashable, CaseIterable {
    /// A link type that is not read.
    case linkType = "link type"
    /// Address resolution.
    case arp
    /// A protocol other than IP on the link.
    case notIP = "not IP"
    /// 802.2 without IP in it: spanning tree, discovery protocols.
    case llc
    /// A radio frame without data: management, control.
    case radioManagement = "radio management"
    /// Encrypted: a protected radio frame, ESP.
    case encrypted
    /// UDP.
    case udp
    /// ICMP and ICMPv6.
    case icmp
    /// A protocol other than TCP over IP.
    case notTCP = "not TCP"
    /// A fragment whose datagram is not complete, or never was.
    case fragment
    /// A fragment, or part of one, that differs from an earlier one, which takes precedence.
    case conflictingFragment = "conflicting fragment"
    /// A wrong IPv4 header or TCP checksum, if checked.
    case badChecksum = "bad checksum"
    /// A truncated or invalid header.
    case malformed
    /// More nested layers than are followed.
    case tooDeep = "too deep"
    /// Lost before it was captured: the interface, or the recording program, had no space for it (`isb_ifdrop`).
    case droppedByInterface = "dropped by the interface"
    /// Lost before it was read: the kernel had no space for it.
    case droppedByKernel = "dropped by the kernel"
}
