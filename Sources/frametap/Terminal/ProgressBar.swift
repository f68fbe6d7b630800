import Streams
import Trace

/// Shows on a terminal how far reading has progressed.
///
/// It is called after each read of a file, and checks the clock then: packets cost nothing.
final class ProgressBar {
    private var line: ProgressLine
    private let start = ContinuousClock.now

    /// A bar for this many bytes; nil if standard error is not a terminal, or the number is unknown.
    init?(total: Int?) {
        guard let total, total > 0, StatusLine.isPossible else { return nil }
        line = ProgressLine(total: total, start: Timestamp(nanoseconds: 0))
    }

    func update(bytes: Int, packets: Int) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let now = Timestamp(seconds: seconds, nanoseconds: attoseconds / 1_000_000_000)
        if let text = line.update(bytes: bytes, packets: packets, now: now, columns: StatusLine.columns) {
            StatusLine.show(text)
        }
    }

    func clear() {
        StatusLine.clear()
    }
}
