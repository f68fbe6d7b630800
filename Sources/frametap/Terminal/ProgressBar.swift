import Streams
import Trace

/// Shows on a terminal how far reading has come.
///
/// It is asked after each reading of a file, and looks at the clock then: packets cost nothing.
final class ProgressBar {
    private var line: ProgressLine
    private let start = ContinuousClock.now

    /// A bar for so many bytes; nil where standard error is no terminal, or nobody knows how many there are.
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
