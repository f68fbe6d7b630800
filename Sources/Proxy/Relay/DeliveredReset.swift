import NIOCore

extension ChannelHandlerContext {
    /// Sends RST once the written data has reached the other end, as it would have without a proxy in between if it was already
    /// in flight. An end that accepts nothing would be waited for in vain, so the wait is limited.
    ///
    /// - Parameter patience: the maximum wait.
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
