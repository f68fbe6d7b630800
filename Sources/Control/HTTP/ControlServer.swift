import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// How long the clients of a server may take for what.
package struct HTTPTimeLimits: Sendable {
    /// For a request to arrive.
    package var request = TimeAmount.seconds(10)
    /// From a response that has been taken to the next request.
    package var pause = TimeAmount.seconds(60)
    /// For taking any part of a response.
    package var stall = TimeAmount.seconds(60)

    /// The usual ones.
    package init() {}
}

/// Answers requests of HTTP/1.1 (RFC 9112) on an address of this machine.
package final class ControlServer: Sendable {
    private let channel: any Channel
    /// Where it listens.
    package let host: String
    package let port: Int

    private init(_ channel: any Channel) {
        self.channel = channel
        (host, port) = (channel.localAddress?.ipAddress ?? "", channel.localAddress?.port ?? 0)
    }

    /// Listens.
    ///
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: 0 lets the system choose.
    ///   - limits: how long clients may take.
    ///   - upgraders: makes what takes a connection over that asks for another protocol.
    ///   - refusal: the response to a request that is refused by its head, whatever its body is; nil for others.
    ///   - answer: answers a request.
    package static func start(
        host: String, port: Int, limits: HTTPTimeLimits = HTTPTimeLimits(),
        upgraders: @escaping @Sendable () -> [any HTTPServerProtocolUpgrader & Sendable] = { [] },
        refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil },
        _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) async throws -> ControlServer {
        let address = try await NIOThreadPool.singleton.runIfActive {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
        let connections = OpenConnections()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    guard connections.begin(channel) else {
                        return try channel.pipeline.syncOperations.addHandler(ClosingHandler())
                    }
                    let (pipeline, upgraders) = (channel.pipeline.syncOperations, upgraders())
                    // What is read after an upgrade is no request any more.
                    let upgrade: NIOHTTPServerUpgradeConfiguration = (
                        upgraders,
                        {
                            $0.pipeline.removeHandler(name: RequestHandler.name, promise: nil)
                            $0.pipeline.removeHandler(name: StallHandler.name, promise: nil)
                        }
                    )
                    try pipeline.addHandler(StallHandler(limits.stall), name: StallHandler.name)
                    try pipeline.configureHTTPServerPipeline(
                        withServerUpgrade: upgraders.isEmpty ? nil : upgrade, withErrorHandling: true)
                    try pipeline.addHandler(
                        RequestHandler(limits, refusal: refusal, answer), name: RequestHandler.name)
                }
            }
            .bind(to: address).get()
        return ControlServer(channel)
    }

    /// Stops listening.
    package func close() { channel.close(promise: nil) }
}

/// How many connections a server has. Who can connect must not be able to use up this process's descriptors, which what is relayed
/// needs, too.
private final class OpenConnections: Sendable {
    private let count = Mutex(0)

    /// The most.
    private static let most = 128

    /// A connection was accepted.
    ///
    /// - Returns: whether there may be one more.
    func begin(_ channel: any Channel) -> Bool {
        let isAllowed = count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
        if isAllowed { channel.closeFuture.whenComplete { [self] _ in count.withLock { $0 -= 1 } } }
        return isAllowed
    }
}

/// Closes a connection as soon as it is open.
private final class ClosingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) { context.close(promise: nil) }
}
