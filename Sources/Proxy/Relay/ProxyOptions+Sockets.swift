import NIOCore
import NIOPosix
import Platform

/// The socket options: the same for clients and servers.
extension ProxyOptions {
    /// For every accepted socket.
    static func setOptions(of bootstrap: ServerBootstrap) -> ServerBootstrap {
        bootstrap.childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.recvAllocator, value: RelayHandler.allocator)
    }

    /// For every accepted TCP socket: bytes are forwarded as they arrive, without coalescing (TCP_NODELAY).
    func setTCPOptions(of bootstrap: ServerBootstrap) -> ServerBootstrap {
        var bootstrap = Self.setOptions(of: bootstrap).childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
        for (level, name, value) in keepAliveOptions {
            bootstrap = bootstrap.childChannelOption(
                ChannelOptions.Types.SocketOption(level: level, name: name), value: value)
        }
        return bootstrap
    }

    /// For every connecting socket.
    static func setOptions(of bootstrap: ClientBootstrap) -> ClientBootstrap {
        bootstrap.channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.recvAllocator, value: RelayHandler.allocator)
    }

    /// For every connecting TCP socket.
    func setTCPOptions(of bootstrap: ClientBootstrap) -> ClientBootstrap {
        var bootstrap = Self.setOptions(of: bootstrap).channelOption(.tcpOption(.tcp_nodelay), value: 1)
        for (level, name, value) in keepAliveOptions {
            bootstrap = bootstrap.channelOption(
                ChannelOptions.Types.SocketOption(level: level, name: name), value: value)
        }
        return bootstrap
    }

    /// Sends a keepalive probe after this many seconds of silence, then at the same interval; three unanswered probes are enough
    /// (RFC 9293 section 3.8.4).
    private var keepAliveOptions: [(NIOBSDSocket.OptionLevel, NIOBSDSocket.Option, SocketOptionValue)] {
        guard let seconds = keepAlive else { return [] }
        #if os(Linux)
        let idle = TCP_KEEPIDLE
        #else
        let idle = TCP_KEEPALIVE
        #endif
        let times = [(idle, seconds), (TCP_KEEPINTVL, max(1, seconds / 3)), (TCP_KEEPCNT, 3)]
        return [(.socket, .so_keepalive, 1)]
            + times.map { (.tcp, NIOBSDSocket.Option(rawValue: $0.0), SocketOptionValue($0.1)) }
    }
}
