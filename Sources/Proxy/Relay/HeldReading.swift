import NIOCore

/// Reports when a direction is held because the other side does not read, for so long that the cause is not a full buffer, but a
/// receiver that has stalled.
///
/// During bulk transfer reading stops and continues all the time, so this must cost next to nothing: at most one check per
/// `patience`. Used on the connection's event loop only.
final class HeldReading {
    /// How long reading must stop before that is reported.
    static let patience = TimeAmount.milliseconds(200)

    private let eventLoop: any EventLoop
    private let report: (Bool) -> Void
    private var since: NIODeadline?
    private var isReported = false
    private var isWatched = false

    /// - Parameter report: called with true when reading has stopped for that long, and then with false when it continues.
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

    /// Reading continues, or the connection is over.
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
