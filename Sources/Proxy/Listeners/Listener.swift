/// Where something listens: a TCP port or a Unix socket.
public enum Place: Hashable, Sendable, CustomStringConvertible {
    /// `127.0.0.1:8088`
    case tcp(HostPort)
    /// `unix:/run/chat.sock`
    case unix(path: String)

    /// Reads a place; nil where the text is none.
    public init?(_ text: String) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst(5))
            guard !path.isEmpty else { return nil }
            self = .unix(path: path)
        } else if let address = HostPort(text) {
            self = .tcp(address)
        } else {
            return nil
        }
    }

    /// Whether only this machine can reach it.
    public var isLoopback: Bool {
        switch self {
        case .tcp(let address): address.isLoopback
        case .unix: true
        }
    }

    /// Whether it is a Unix socket.
    var isUnix: Bool { if case .unix = self { true } else { false } }

    /// The place as it was written.
    public var description: String {
        switch self {
        case .tcp(let address): "\(address)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// One way into the proxy: where clients come to, and which server they are taken to.
public struct Listener: Hashable, Sendable {
    /// How the server of a client is found.
    public enum Server: Hashable, Sendable {
        /// It is always this one.
        case fixed(Place)
        /// The client names it (RFC 1928).
        case socks5
        /// It is the one that the client meant to connect to before the system redirected it here (Linux).
        case transparent
    }

    /// Where clients connect to.
    public var listen: Place
    /// Where they are taken.
    public var server: Server

    /// A way in.
    public init(listen: Place, server: Server) {
        self.listen = listen
        self.server = server
    }
}
