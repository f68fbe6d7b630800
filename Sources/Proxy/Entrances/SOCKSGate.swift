import NIOCore

/// Stands before NIOSOCKS and hands it what a client says byte by byte, for as long as it is to listen.
///
/// NIOSOCKS reads one message of what it is given and lets the rest lie until more comes, and what comes while it waits for
/// an answer is an error to it. Clients may send the request right behind the greeting, and their first bytes right behind
/// the request. So no byte leaves here before the message it belongs to is wanted. Messages have 262 bytes at most.
final class SOCKSGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private var held = ByteBuffer()
    private var isOpen = true

    /// The client has said which server it wants; the rest is for that.
    func close() { isOpen = false }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.read()
    }

    /// Begins to read, where a handler that was removed has read before.
    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        held.writeBuffer(&buffer)
        while isOpen, let byte = held.readSlice(length: 1) { context.fireChannelRead(wrapInboundOut(byte)) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if isOpen { context.read() }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    }
}
