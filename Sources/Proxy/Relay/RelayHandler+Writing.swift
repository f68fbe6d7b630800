import NIOCore
import Platform

/// How an end is written to: past its channel's pipeline, if it can be. There, a write takes a third of the instructions of a message
/// that is relayed.
extension RelayHandler {
    /// What is known of the writes of an end.
    struct Writing {
        /// The channel, if nothing lies between this handler and a socket.
        ///
        /// It is kept, since `withUnsafeTransportIfAvailable` casts it each time: that takes 10,000 instructions.
        var transport: (any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>)?
        /// How many writes wait in the channel; until there are none, all that follow do.
        var waiting = 0
        /// Whether there are some that were not flushed.
        var isUnflushed = false
    }

    /// Lets writes go to the socket at once, if the channel has one, and nothing waits to be written.
    func writeDirectly() {
        guard wire == nil, !hasTLS, let channel,
            let transport = channel._channelCore as? any NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle>,
            (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) == 0
        else { return }
        writing.transport = transport
    }

    /// Writes what the socket accepts now. The rest waits in the channel, not flushed: the flush follows when the other end has read all
    /// available input.
    func write(_ buffer: ByteBuffer) {
        sentBytes += buffer.readableBytes
        guard let context else { return }
        guard let transport = writing.transport else {
            writing.isUnflushed = true
            context.write(wrapOutboundOut(buffer), promise: nil)
            return
        }
        let count = writing.waiting == 0 ? transport.writeAtOnce(buffer) : 0
        if count < buffer.readableBytes { wait(with: buffer, from: count, context) }
    }

    /// Leaves bytes to the channel: it reports what is wrong with the socket, if anything is, and when it accepts bytes again.
    private func wait(with buffer: ByteBuffer, from start: Int, _ context: ChannelHandlerContext) {
        var rest = buffer
        rest.moveReaderIndex(forwardBy: start)
        writing.waiting += 1
        writing.isUnflushed = true
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] _ in writing.waiting -= 1 }
        context.write(wrapOutboundOut(rest), promise: written)
    }

    /// Passes on the writes that wait in the channel.
    func flush() {
        guard writing.isUnflushed else { return }
        writing.isUnflushed = false
        context?.flush()
    }
}

extension NIOTransportAccessibleChannelCore<NIOBSDSocket.Handle> {
    /// Writes to the socket, past the pipeline.
    ///
    /// - Returns: how many bytes it has accepted; 0 also if there was an error, or if it is closed.
    fileprivate func writeAtOnce(_ buffer: ByteBuffer) -> Int {
        #if os(Linux)
        // A peer that is gone is an error, not a signal. Elsewhere, the socket has an option for that, which SwiftNIO sets.
        let flags = CInt(MSG_NOSIGNAL)
        #else
        let flags: CInt = 0
        #endif
        let count = try? withUnsafeTransport { socket in
            buffer.withUnsafeReadableBytes { Platform.send(socket, $0.baseAddress, $0.count, flags) }
        }
        return max(0, count ?? 0)
    }
}
