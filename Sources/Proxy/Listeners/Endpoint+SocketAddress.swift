import NIOCore
import Platform
import Streams

extension Endpoint {
    /// The endpoint of a socket; `0.0.0.0:0` if it has no IP address.
    init(_ address: SocketAddress?) {
        switch address {
        case .v4(let v4): self.init(v4.address)
        case .v6(let v6): self.init(v6.address)
        case .unixDomainSocket, nil: self.init(IPAddress(v4: 0), 0)
        }
    }

    private init(_ address: sockaddr_in) {
        let (bits, port) = InternetAddress.parts(of: address)
        self.init(IPAddress(v4: bits), port)
    }

    private init(_ address: sockaddr_in6) {
        let (high, low, port) = InternetAddress.parts(of: address)
        self.init(IPAddress(v6: high, low), port)
    }
}

extension IPAddress {
    /// Parses an address as people write it, without a zone; nil if the text is not one.
    init?(text: String) {
        if let bits = InternetAddress.bits(ofIPv4: text) {
            self.init(v4: bits)
        } else if let (high, low) = InternetAddress.halves(ofIPv6: text) {
            self.init(v6: high, low)
        } else {
            return nil
        }
    }

    /// 0.0.0.0 and ::, which mean all addresses of a machine when listening, and loopback when connecting.
    var isUnspecified: Bool { high == 0 && low == 0 }
}
