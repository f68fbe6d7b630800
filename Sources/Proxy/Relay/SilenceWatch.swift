import NIOCore

/// Ends a connection on which nothing was said for longer than is allowed. Used on its event loop only.
final class SilenceWatch {
    private let shared: RelayHandler.Shared
    private let limit: TimeAmount
    private let eventLoop: any EventLoop
    private let waits: () -> Bool?
    private let expire: () -> Void

    /// - Parameters:
    ///   - limit: how long nothing may be said.
    ///   - waits: whether the relay itself waits, which is no silence of the peers; nil where it is over.
    ///   - expire: called when nothing was said for so long.
    init(
        _ shared: RelayHandler.Shared, limit: TimeAmount, on eventLoop: any EventLoop, waits: @escaping () -> Bool?,
        expire: @escaping () -> Void
    ) {
        (self.shared, self.limit, self.eventLoop, self.waits, self.expire) = (shared, limit, eventLoop, waits, expire)
    }

    /// Watches until the connection is over.
    func begin() {
        eventLoop.assumeIsolated().scheduleTask(deadline: shared.lastRead + limit) {
            guard let waits = self.waits() else { return }
            let now = self.eventLoop.now
            if waits { self.shared.lastRead = now }
            if self.shared.lastRead + self.limit > now { return self.begin() }
            self.expire()
        }
    }
}
