import NIOCore
import Streams

/// Notes the proxy's end of a connection as soon as it has an address, which is before the connection is made. It then leaves the
/// pipeline: nothing that is relayed has to pass it.
final class OutgoingWatch: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    private let own: OwnAddresses

    init(_ own: OwnAddresses) {
        self.own = own
    }

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        // The connection may arrive as a client on another thread before its end is known here.
        let handle = own.begins()
        defer {
            own.begun(handle)
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
        context.connect(to: address, promise: promise)
        // The channel itself queries its address only once it is connected.
        guard address.protocol != .unix, let local = try? context.channel._channelCore.localAddress0() else { return }
        let (end, server) = (Endpoint(local), Endpoint(address))
        own.connecting(from: end, to: server)
        context.channel.closeFuture.whenComplete { [own] _ in own.disconnected(from: end, to: server) }
    }
}
