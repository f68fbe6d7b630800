import CNIOLinux
import NIOCore
import Platform

/// The outcome of a request, as a SOCKS server reports it (RFC 1928 section 6).
enum SOCKSReply: UInt8, Sendable {
    case succeeded = 0
    case serverFailure = 1
    case notAllowed = 2
    case networkUnreachable = 3
    case hostUnreachable = 4
    case refused = 5
    case commandUnsupported = 7
    case addressUnsupported = 8

    /// The message: version, reply, reserved, address type, address, port.
    ///
    /// - Parameter bound: the proxy's end of the connection to the server; 0.0.0.0:0 where there is none, or it has no IP
    ///   address.
    func bytes(bound: SocketAddress? = nil) -> [UInt8] {
        let head = [5, rawValue, 0] as [UInt8]
        switch bound {
        case .v4(let v4)?:
            return head + [1] + withUnsafeBytes(of: v4.address.sin_addr) { Array($0) } + Self.bytes(v4.address.sin_port)
        case .v6(let v6)?:
            return head + [4] + withUnsafeBytes(of: v6.address.sin6_addr) { Array($0) }
                + Self.bytes(v6.address.sin6_port)
        case .unixDomainSocket?, nil: return head + [1, 0, 0, 0, 0, 0, 0]
        }
    }

    /// A port, which is in network byte order already.
    private static func bytes(_ port: in_port_t) -> [UInt8] { withUnsafeBytes(of: port) { Array($0) } }
}
