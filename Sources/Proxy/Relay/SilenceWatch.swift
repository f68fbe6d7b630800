import NIOCore

/// Ends a connection whose idle timeout expires. Used on its event loop only.
final class SilenceWatch {
    private let shared: RelayHandler.Shared
    private let limit: TimeAmount
    private let eventLoop: any EventLoop
    private let waits: () -> Bool?
    private let expire: () -> Void
    private var next: Scheduled<Void>?

    /// - Parameters:
    ///   - limit: the idle timeout.
    ///   - waits: whether the relay itself waits, which does not count as silence of the peers; nil if the relay is over.
    ///   - expire: called when the timeout expires.
    init(
        _ shared: RelayHandler.Shared, limit: TimeAmount, on eventLoop: any EventLoop, waits: @escaping () -> Bool?,
        expire: @escaping () -> Void
    ) {
        (self.shared, self.limit, self.eventLoop, self.waits, self.expire) = (shared, limit, eventLoop, waits, expire)
    }

    /// Watches until the connection is over.
    func begin() {
        next = eventLoop.assumeIsolated().scheduleTask(deadline: shared.lastRead + limit) {
            guard let waits = self.waits() else { return }
            let now = self.eventLoop.now
            if waits { self.shared.lastRead = now }
            if self.shared.lastRead + self.limit > now { return self.begin() }
            self.expire()
        }
    }

    /// Ends with the connection's channels, so that nothing of it is kept until the timeout.
    func end(with channels: [any Channel]) {
        EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: eventLoop).assumeIsolated()
            .whenComplete { _ in self.next?.cancel() }
    }
}
