import NIOCore
import Streams

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
    /// - Parameter bound: the proxy's end of the connection to the server; 0.0.0.0:0 if there is none, or it has no IP address.
    func bytes(bound: SocketAddress? = nil) -> [UInt8] {
        let end = Endpoint(bound)
        let (high, low) = (end.address.high.bigEndianBytes, end.address.low.bigEndianBytes)
        let address = end.address.isIPv4 ? [1] + low.suffix(4) : [4] + high + low
        return [5, rawValue, 0] + address + [UInt8(end.port >> 8), UInt8(truncatingIfNeeded: end.port)]
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
