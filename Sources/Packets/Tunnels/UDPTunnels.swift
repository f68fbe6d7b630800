import Streams

/// UDP: source port (2), destination port (2), length (2), checksum (2). Source: RFC 768.
///
/// **The list of tunnels over UDP**, by their registered ports.
enum UDPTunnels {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 8 else { return .skipped(.udp) }
        let layer = layer(bytes.u16(2)) ?? layer(bytes.u16(0))
        guard let layer else { return .skipped(.udp) }
        let length = Int(bytes.u16(4))
        return .layer(layer, at: 8, end: length >= 8 ? length : .max)
    }

    private static func layer(_ port: UInt16) -> Layer? {
        switch port {
        case 4789, 8472: .vxlan  // 8472: used by Linux before the registration
        case 6081: .geneve
        case 2152: .gtpU
        case 3544: .teredo
        default: nil
        }
    }
}
