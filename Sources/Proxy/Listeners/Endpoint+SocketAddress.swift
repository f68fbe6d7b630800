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

    init(_ address: sockaddr_in) {
        self.init(IPAddress(v4: UInt32(bigEndian: address.sin_addr.s_addr)), UInt16(bigEndian: address.sin_port))
    }

    init(_ address: sockaddr_in6) {
        self.init(
            IPAddress(networkOrder: withUnsafeBytes(of: address.sin6_addr) { Array($0) }),
            UInt16(bigEndian: address.sin6_port))
    }
}

extension IPAddress {
    /// Parses an address as people write it, without a zone; nil if the text is not one.
    init?(text: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(networkOrder: withUnsafeBytes(of: v6) { Array($0) })
        } else {
            return nil
        }
    }

    /// An IPv6 address from its 16 bytes.
    init(networkOrder bytes: [UInt8]) {
        let halves = [bytes.prefix(8), bytes.dropFirst(8)].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        self.init(v6: halves[0], halves[1])
    }

    /// 0.0.0.0 and ::, which mean all addresses of a machine when listening, and loopback when connecting.
    var isUnspecified: Bool { high == 0 && low == 0 }
}
