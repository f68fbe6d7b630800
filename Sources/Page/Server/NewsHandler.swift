import NIOCore
import NIOWebSocket

/// Tells a page what is new: a few times a second, and only if it has read what it was told before. So one that falls behind
/// catches up with one message. A message comes also if nothing is new, so that a page notices a server that is gone.
final class NewsHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let page: Page
    private let switches: @Sendable () -> Int
    private var last: (news: News, sent: NIODeadline)?
    private var task: RepeatedTask?
    private var hasEnded = false

    /// The time between two messages.
    private static let pause = TimeAmount.milliseconds(200)

    /// The longest time without one.
    private static let longestPause = TimeAmount.seconds(4)

    /// - Parameter switches: a number that is another one after breakpoints or rules have changed.
    init(_ page: Page, switches: @escaping @Sendable () -> Int) { (self.page, self.switches) = (page, switches) }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        task = context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.pause) { _ in
            let (handler, context) = bound.value
            handler.tell(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { task?.cancel() }
    func channelInactive(context: ChannelHandlerContext) { task?.cancel() }

    private func tell(_ context: ChannelHandlerContext) {
        guard context.channel.isActive, context.channel.isWritable, !hasEnded else { return }
        let (switches, now) = (switches(), context.eventLoop.now)
        let news = page.store.read { News($0, switches: switches) }
        if let last, last.news == news, now - last.sent < Self.longestPause { return }
        last = (news, now)
        let text = JSONText.object { news.write(to: &$0) }
        write(.text, ByteBuffer(bytes: text), context)
    }

    private func write(_ code: WebSocketOpcode, _ data: ByteBuffer, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: code, data: data)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .ping: write(.pong, frame.unmaskedData, context)
        case .connectionClose:
            guard !hasEnded else { return }
            hasEnded = true
            write(.connectionClose, ByteBuffer(), context)
            context.close(promise: nil)
        // The page has nothing to say here.
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
