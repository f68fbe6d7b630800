/// The link-layer header type of a capture's interface: what a packet begins with.
///
/// Source: <https://www.tcpdump.org/linktypes.html>, and draft-ietf-opsawg-pcaplinktype.
package struct LinkType: RawRepresentable, Hashable, Sendable {
    /// Its number in the registry.
    package var rawValue: UInt16

    /// A link type by its number.
    @inlinable
    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// BSD loopback: address family in the capturing host's byte order.
    package static let null = LinkType(rawValue: 0)
    /// Ethernet (and Ethernet-like) frames.
    package static let ethernet = LinkType(rawValue: 1)
    /// PPP without further framing, or in HDLC-like framing.
    package static let ppp = LinkType(rawValue: 9)
    /// Raw IP as BSD kernels number it (also 12 and 14 in files whose writer did not map them).
    package static let raw = LinkType(rawValue: 101)
    /// PPP in HDLC-like framing (RFC 1662), or Cisco HDLC.
    package static let pppHDLC = LinkType(rawValue: 50)
    /// PPPoE session packets (RFC 2516).
    package static let pppEthernet = LinkType(rawValue: 51)
    /// Cisco HDLC.
    package static let ciscoHDLC = LinkType(rawValue: 104)
    /// IEEE 802.11 frames.
    package static let ieee80211 = LinkType(rawValue: 105)
    /// OpenBSD loopback: address family in network byte order.
    package static let loop = LinkType(rawValue: 108)
    /// Linux cooked capture, version 1.
    package static let linuxCooked = LinkType(rawValue: 113)
    /// Prism header, then IEEE 802.11.
    package static let prism = LinkType(rawValue: 119)
    /// Radiotap header, then IEEE 802.11.
    package static let radiotap = LinkType(rawValue: 127)
    /// AVS header, then IEEE 802.11.
    package static let avs = LinkType(rawValue: 163)
    /// Per-Packet Information header, then the link type it names.
    package static let perPacketInformation = LinkType(rawValue: 192)
    /// MPLS label stack.
    package static let mpls = LinkType(rawValue: 219)
    /// Raw IPv4.
    package static let ipv4 = LinkType(rawValue: 228)
    /// Raw IPv6.
    package static let ipv6 = LinkType(rawValue: 229)
    /// Linux netfilter log.
    package static let netfilterLog = LinkType(rawValue: 239)
    /// Darwin's packet tap, then the link type it names.
    package static let packetTap = LinkType(rawValue: 258)
    /// Linux cooked capture, version 2.
    package static let linuxCooked2 = LinkType(rawValue: 276)
}
