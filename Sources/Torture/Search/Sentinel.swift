import NIOCore
import NIOPosix
import Synchronization

/// A connection on which nothing is said: it ends if the server does.
final class Sentinel: Sendable {
    private let channel: any Channel
    private let watch: Watch

    private final class Watch: ChannelInboundHandler, Sendable {
        typealias InboundIn = ByteBuffer

        let hasEnded = Mutex(false)

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if case ChannelEvent.inputClosed = event { hasEnded.withLock { $0 = true } }
        }

        func channelInactive(context: ChannelHandlerContext) { hasEnded.withLock { $0 = true } }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }

    private init(_ channel: any Channel, _ watch: Watch) { (self.channel, self.watch) = (channel, watch) }

    static func open(_ server: SocketAddress) async throws -> Sentinel {
        let watch = Watch()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { $0.pipeline.addHandler(watch) }
            .connect(to: server).get()
        return Sentinel(channel, watch)
    }

    /// Whether the server has ended it.
    var hasEnded: Bool { watch.hasEnded.withLock { $0 } }

    func close() { channel.close(promise: nil) }
}
