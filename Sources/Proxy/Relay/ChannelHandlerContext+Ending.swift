import NIOCore

extension ChannelHandlerContext {
    /// Ends the connection with a RST.
    func reset() {
        channel.resetOnClose().assumeIsolated().whenComplete { [self] _ in close(promise: nil) }
    }

    /// Calls `then` once all pending writes have completed. If they fail, the channel is being closed.
    ///
    /// Closing drops pending writes if the other direction is closed, too: an empty write comes last.
    func whenFlushed(_ then: @escaping () -> Void) {
        let written = eventLoop.makePromise(of: Void.self)
        writeAndFlush(NIOAny(ByteBuffer()), promise: written)
        written.futureResult.assumeIsolated().whenSuccess { _ in then() }
    }
}
