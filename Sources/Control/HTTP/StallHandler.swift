import NIOCore

/// Closes a connection whose client takes nothing of what is written to it for too long.
final class StallHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Its name in the pipeline.
    static let name = "stalls"

    private let longest: TimeAmount
    /// How many writes there were.
    private var writes = 0
    /// How many bytes waited for the client when it was looked at last, and how many writes there had been.
    private var last = (pending: 0, writes: 0)
    private var task: RepeatedTask?

    /// - Parameter longest: the shortest time that is too long; it may be twice that.
    init(_ longest: TimeAmount) { self.longest = longest }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        task = context.eventLoop.scheduleRepeatedTask(initialDelay: longest, delay: longest) { _ in
            let (handler, context) = bound.value
            handler.look(context)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { task?.cancel() }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writes += 1
        context.write(data, promise: promise)
    }

    private func look(_ context: ChannelHandlerContext) {
        let pending = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        // Without writes, what waits only becomes less.
        if pending > 0, last == (pending, writes) { context.close(promise: nil) }
        last = (pending, writes)
    }
}
