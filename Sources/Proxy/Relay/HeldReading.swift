import NIOCore

/// Tells when what one side sends has to wait because the other side does not take it: for so long that this is no matter
/// of a full buffer, but of a receiver that has stalled.
///
/// In bulk reading stops and goes on all the time, so it must cost next to nothing: at most one look each `patience`.
/// Used on the connection's event loop only.
final class HeldReading {
    /// How long reading has to stop before that is told.
    static let patience = TimeAmount.milliseconds(200)

    private let eventLoop: any EventLoop
    private let report: (Bool) -> Void
    private var since: NIODeadline?
    private var isReported = false
    private var isWatched = false

    /// - Parameter report: called with true when reading has stopped for long, and then with false when it goes on.
    init(on eventLoop: any EventLoop, _ report: @escaping (Bool) -> Void) {
        (self.eventLoop, self.report) = (eventLoop, report)
    }

    /// Reading stops.
    func begin() {
        guard since == nil else { return }
        let now = eventLoop.now
        since = now
        if !isWatched { look(at: now + Self.patience) }
    }

    /// Reading goes on, or the connection is over.
    func end() {
        guard since != nil else { return }
        since = nil
        if isReported { report(false) }
        isReported = false
    }

    private func look(at time: NIODeadline) {
        isWatched = true
        eventLoop.assumeIsolated().scheduleTask(deadline: time) { [weak self] in
            guard let self else { return }
            self.isWatched = false
            guard let since = self.since, !self.isReported else { return }
            if since + Self.patience > self.eventLoop.now { return self.look(at: since + Self.patience) }
            self.isReported = true
            self.report(true)
        }
    }
}
