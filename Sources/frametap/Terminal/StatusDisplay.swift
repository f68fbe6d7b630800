import Proxy
import Trace

/// Keeps the last line of a terminal up to date.
final class StatusDisplay {
    /// The counter; must be one of the trace's sinks.
    let status = LiveStatus()

    /// Updates the status if it is due, and shows the line again if something was written since.
    func update(queue: Double? = nil, dropped: String? = nil) {
        let isDue = status.look(at: WallClock.now())
        guard isDue || StatusLine.isHidden else { return }
        StatusLine.show(status.line(columns: StatusLine.columns, queue: queue, dropped: dropped))
    }

    /// Removes the line.
    func end() {
        StatusLine.clear()
    }
}
