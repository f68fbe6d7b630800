/// What IP carries.
///
/// Source: IANA "Protocol Numbers".
enum IPProtocol {
    static let tcp: UInt8 = 6
    static let udp: UInt8 = 17
    static let authenticationHeader: UInt8 = 51

    /// The layer inside an IP payload that is not TCP.
    static func inside(_ number: UInt8, _ payload: RawSpan) -> Inside {
        switch number {
        case udp: UDPTunnels.read(payload)
        case 4: .layer(.ipv4, at: 0)
        case 41: .layer(.ipv6, at: 0)
        case 47: .layer(.gre, at: 0)
        case 97: .layer(.etherIP, at: 0)
        case 137: .layer(.mpls, at: 0)
        case 1, 58: .skipped(.icmp)
        case 50: .skipped(.encrypted)
        default: .skipped(.notTCP)
        }
    }
}
