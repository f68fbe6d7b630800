/// The address of a listener: a TCP port or a Unix socket.
package enum Place: Hashable, Sendable, CustomStringConvertible {
    /// `127.0.0.1:8088`
    case tcp(HostPort)
    /// `unix:/run/chat.sock`
    case unix(path: String)

    /// Parses an address; nil if the text is not one.
    package init?(_ text: String) {
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
    package var isLoopback: Bool {
        switch self {
        case .tcp(let address): address.isLoopback
        case .unix: true
        }
    }

    /// The host's name or address; nil for a Unix socket.
    var host: String? { if case .tcp(let address) = self { address.host } else { nil } }

    /// Whether it is a Unix socket.
    var isUnix: Bool { if case .unix = self { true } else { false } }

    /// The address as it was written.
    package var description: String {
        switch self {
        case .tcp(let address): "\(address)"
        case .unix(let path): "unix:\(path)"
        }
    }
}

/// One listener of the proxy: where clients connect, and which server they are connected to.
package struct Listener: Hashable, Sendable {
    /// How the server of a client is found.
    package enum Server: Hashable, Sendable {
        /// Always this one.
        case fixed(Place)
        /// Each client's own.
        case chosen(by: ServerChoice)
    }

    /// Where clients connect to.
    package var listen: Place
    /// Where they are connected to.
    package var server: Server

    /// A listener.
    package init(listen: Place, server: Server) {
        self.listen = listen
        self.server = server
    }
}
