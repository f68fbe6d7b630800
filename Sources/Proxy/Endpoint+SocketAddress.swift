import NIOCore
import Streams

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension Endpoint {
    /// The endpoint of a socket; `0.0.0.0:0` where it has no address.
    init(_ address: SocketAddress?) {
        switch address {
        case .v4(let v4):
            self.init(
                IPAddress(v4: UInt32(bigEndian: v4.address.sin_addr.s_addr)), UInt16(bigEndian: v4.address.sin_port))
        case .v6(let v6):
            let bytes = withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
            let halves = [bytes[..<8], bytes[8...]].map { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            self.init(IPAddress(v6: halves[0], halves[1]), UInt16(bigEndian: v6.address.sin6_port))
        case .unixDomainSocket, nil:
            self.init(IPAddress(v4: 0), 0)
        }
    }
}
