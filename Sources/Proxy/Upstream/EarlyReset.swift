import NIOCore
import NIOPosix
import Platform
import Synchronization

/// Notices servers that answer and reset before the event loop has seen that they are connected.
///
/// Such a channel fails to connect, and closes its socket together with what was received. So the socket has a second descriptor
/// meanwhile, from which that is read; the connection is then one that the server has reset.
final class EarlyReset: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer

    /// A connection that was reset.
    struct Connection: Sendable {
        /// The second descriptor of its socket.
        var descriptor: CInt
        /// The server's address.
        var address: SocketAddress
    }

    /// The first such connection among the addresses of a server.
    final class Found: Sendable {
        private let connection: NIOLoopBoundBox<Connection?>

        init(on loop: any EventLoop) { connection = .makeEmptyBox(eventLoop: loop) }

        /// Returns it; from then on it is the caller's.
        func take() -> Connection? {
            defer { connection.value = nil }
            return connection.value
        }

        fileprivate func keep(_ reset: Connection) -> Bool {
            guard connection.value == nil else { return false }
            connection.value = reset
            return true
        }
    }

    private let found: Found

    init(_ found: Found) { self.found = found }

    /// How many second descriptors there are, and may be: descriptors are limited. A connection without one is merely not rescued.
    private static let count = Atomic(0)
    private static let most = 16

    func connect(context: ChannelHandlerContext, to address: SocketAddress, promise: EventLoopPromise<Void>?) {
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        let descriptor = Self.copyDescriptor(of: context)
        let found = found
        promise.futureResult.assumeIsolated().whenComplete { result in
            // What is relayed need not pass through here.
            if case .success = result {
                // The reset may have come since, and then the socket no longer knows its peer.
                if context.channel.remoteAddress == nil {
                    try? context.pipeline.syncOperations.addHandler(ResetPeer(address))
                }
                context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
            }
            guard let descriptor else { return }
            Self.count.subtract(1, ordering: .relaxed)
            if case .failure(let error) = result, Self.isReset(error),
                found.keep(Connection(descriptor: descriptor, address: address))
            {
                return
            }
            Platform.close(descriptor)
        }
        context.connect(to: address, promise: promise)
    }

    private static func copyDescriptor(of context: ChannelHandlerContext) -> CInt? {
        guard count.add(1, ordering: .relaxed).newValue <= most,
            let copy = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(
                of: NIOBSDSocket.Handle.self, { fcntl($0, F_DUPFD_CLOEXEC, 0) }), copy >= 0
        else {
            count.subtract(1, ordering: .relaxed)
            return nil
        }
        return copy
    }

    /// Whether an error means that the connection was made, and reset after that: a refusal is another one. After a FIN it is EPIPE.
    private static func isReset(_ error: any Error) -> Bool {
        guard let code = (error as? IOError)?.errnoCode else { return false }
        return code == ECONNRESET || code == EPIPE
    }
}

/// The address of a server that has reset its connection, which the socket no longer knows.
final class ResetPeer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    let address: SocketAddress

    init(_ address: SocketAddress) { self.address = address }
}

extension EarlyReset.Connection {
    /// A channel for it, which has read what was received, and is about to end.
    ///
    /// - Parameter initialize: prepares the channel.
    func channel(
        on loop: any EventLoop, initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        let (bytes, address) = (received(), address)
        // Once there is a channel, the descriptor is the channel's.
        let isTaken = NIOLoopBoundBox(false, eventLoop: loop)
        // Without half-closure: the end of what was received is not a FIN.
        return ClientBootstrap(group: loop)
            .channelInitializer { channel in
                isTaken.value = true
                return channel.eventLoop.makeCompletedFuture {
                    try initialize(channel)
                    try channel.pipeline.syncOperations.addHandler(ResetPeer(address))
                }
            }
            .withConnectedSocket(descriptor)
            .flatMapErrorThrowing { error in
                if !isTaken.value { close() }
                throw error
            }
            .map { channel in
                if bytes.readableBytes > 0 {
                    channel.pipeline.fireChannelRead(bytes)
                    channel.pipeline.fireChannelReadComplete()
                }
                return channel
            }
    }

    func close() { _ = Platform.close(descriptor) }

    /// What was received: at most what the system keeps for a connection.
    private func received() -> ByteBuffer {
        var buffer = ByteBuffer()
        while buffer.writeWithUnsafeMutableBytes(
            minimumWritableBytes: 65_536, { max(0, Platform.read(descriptor, $0.baseAddress, $0.count)) }) > 0
        {}
        return buffer
    }
}
