import NIOCore
import Streams

/// The lowest handler of a socket with TLS: sees its ciphertext, and ends the connection without TLS having a say.
final class TLSWire: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private(set) var context: ChannelHandlerContext?
    private let tap: (any CiphertextTap)?
    /// What was sent while a chunk was being taken: it follows that chunk.
    private var isTaking = false
    private var answers: [ByteBuffer] = []

    /// - Parameter tap: sees the ciphertext.
    init(tap: (any CiphertextTap)?) { self.tap = tap }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let tap else { return context.fireChannelRead(data) }
        // Secrets that TLS learns from a chunk come before the chunk: readers of a capture need them by then.
        isTaking = true
        context.fireChannelRead(data)
        isTaking = false
        tap.received(unwrapInboundIn(data))
        for answer in answers { tap.sent(answer) }
        answers = []
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if let tap {
            let buffer = unwrapOutboundIn(data)
            if isTaking { answers.append(buffer) } else if buffer.readableBytes > 0 { tap.sent(buffer) }
        }
        context.write(data, promise: promise)
    }
}

/// Sees the ciphertext of one socket, in order.
protocol CiphertextTap: AnyObject {
    /// The socket's other end sent bytes.
    func received(_ buffer: ByteBuffer)
    /// The proxy sent bytes.
    func sent(_ buffer: ByteBuffer)
}
