import NIOCore

/// Negotiates with a SOCKS client up to which server it wants, and sends what that is answered.
///
/// Only bytes travel through the channel, before and behind it: closing a channel removes its handlers in any state, and
/// what a handler that goes still holds must be something that the next one takes.
final class SOCKSEntrance: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var negotiation = SOCKSNegotiation()
    /// What came and belongs to no message of the negotiation.
    private var held = ByteBuffer()
    private var done: ((Result<HostPort, EntryFault>) -> Void)?
    private var context: ChannelHandlerContext?

    /// Takes its place in the channel's pipeline, before the relay's end.
    ///
    /// - Parameter done: called once, with the server that the client wants, or with what is wrong; then the client has had
    ///   its answer, if there is one that SOCKS can give.
    func begin(
        in channel: any Channel, before relay: RelayHandler, _ done: @escaping (Result<HostPort, EntryFault>) -> Void
    ) throws {
        self.done = done
        try channel.pipeline.syncOperations.addHandler(self, position: .before(relay))
    }

    /// Leaves the pipeline; what the client sent behind its request goes to the relay.
    func end() {
        done = nil
        guard let context else { return }
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    }

    /// Answers the request; the connection is then the server's, or is to be closed.
    func reply(_ reply: SOCKSReply, bound: SocketAddress?) {
        send(reply.bytes(bound: bound))
    }

    private func send(_ bytes: [UInt8]) {
        guard let context else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    /// Begins to read, where a handler that was removed has read before.
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { context.read() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        done = nil
        if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        held.writeBuffer(&buffer)
        for action in negotiation.take(&held) {
            switch action {
            case .send(let bytes): send(bytes)
            case .connect(let place): finish(.success(place))
            case .fail(let reason): finish(.failure(EntryFault(reason)))
            }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if !negotiation.isOver { context.read() }
    }

    private func finish(_ result: Result<HostPort, EntryFault>) {
        let done = done
        self.done = nil
        done?(result)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if case .inputClosed? = event as? ChannelEvent { finish(.failure(Self.ended)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        context.fireChannelInactive()
        finish(.failure(Self.ended))
    }

    private static let ended = EntryFault("the client was gone before it said which server it wants")
}
