import Proxy
import Trace

/// Keeps the last line of a terminal up to date.
final class StatusDisplay {
    /// What counts; to be among the trace's sinks.
    let status = LiveStatus()

    /// Shows how things stand, where it is time for that, and the line again, where something was written since.
    func update(queue: Double? = nil, dropped: String? = nil) {
        let isDue = status.look(at: WallClock.now())
        guard isDue || StatusLine.isHidden else { return }
        StatusLine.show(status.line(columns: StatusLine.columns, queue: queue, dropped: dropped))
    }

    /// Takes the line away.
    func end() {
        StatusLine.clear()
    }
}
