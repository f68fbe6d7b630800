import NIOCore
import NIOPosix
import Platform
import Streams

/// The address that a peer listens on or connects to: a host, by name or address, and a port.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// A name, or an address without brackets.
    package var host: String
    /// The port, 0 to 65,535.
    package var port: Int

    /// A host and a port.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// The address of an end of a connection, such as one that was bound.
    package init(_ endpoint: Endpoint) {
        self.init(host: endpoint.address.description, port: Int(endpoint.port))
    }

    /// `localhost:80` or `[::1]:80`.
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension Endpoint {
    /// The endpoint of a socket address; nil if it is not IP.
    init?(_ address: SocketAddress?) {
        guard let address, let port = address.port.flatMap(UInt16.init(exactly:)) else { return nil }
        switch address {
        case .v4(let v4): self.init(Self.address(of: v4.address), port)
        case .v6(let v6): self.init(Self.address(of: v6.address), port)
        case .unixDomainSocket: return nil
        }
    }

    private static func address(of socket: sockaddr_in) -> IPAddress {
        IPAddress(v4: InternetAddress.parts(of: socket).bits)
    }

    private static func address(of socket: sockaddr_in6) -> IPAddress {
        let (high, low, _) = InternetAddress.parts(of: socket)
        return IPAddress(v6: high, low)
    }
}

/// A connection error in short form: NIO's own texts name every address that was tried, and its system calls.
func shortDescription(of error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
        if let failure = error.connectionErrors.first { return shortDescription(of: failure.error) }
        return (error.dnsAError ?? error.dnsAAAAError).map(shortDescription) ?? "cannot find \(error.host)"
    case let error as SocketAddressError.UnknownHost:
        return "cannot find \(error.host): \(error.errorDescription)"
    case let error as IOError:
        return String(cString: strerror(error.errnoCode))
    default:
        return "\(error)"
    }
}
