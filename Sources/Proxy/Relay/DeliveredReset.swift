import NIOCore

extension ChannelHandlerContext {
    /// Sends RST once what was written has reached the other end, as it would have without a proxy in between, where it was on its way
    /// already. One that takes nothing is waited for in vain, so not for ever.
    ///
    /// - Parameter patience: how long to wait at most.
    func resetWhenDelivered(within patience: TimeAmount) {
        let task = eventLoop.assumeIsolated().scheduleTask(in: patience) { self.reset() }
        channel.closeFuture.assumeIsolated().whenComplete { _ in task.cancel() }
        whenFlushed { self.resetWhenAcknowledged() }
    }

    private func resetWhenAcknowledged() {
        guard channel.isActive else { return }
        Unacknowledged.isAnything(on: channel).assumeIsolated().whenComplete { result in
            guard case .success(true) = result else { return self.reset() }
            self.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(5)) { self.resetWhenAcknowledged() }
        }
    }
}
