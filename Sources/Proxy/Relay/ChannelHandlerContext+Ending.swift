import NIOCore

extension ChannelHandlerContext {
    /// Ends the connection with a RST.
    func reset() {
        channel.resetOnClose().assumeIsolated().whenComplete { [self] _ in close(promise: nil) }
    }

    /// Calls `then` once everything that is to be written has been, or cannot be.
    ///
    /// Closing drops what is still to be written where the other direction is closed, too: an empty write comes last.
    func whenFlushed(_ then: @escaping () -> Void) {
        let written = eventLoop.makePromise(of: Void.self)
        writeAndFlush(NIOAny(ByteBuffer()), promise: written)
        written.futureResult.assumeIsolated().whenComplete { _ in then() }
    }
}
