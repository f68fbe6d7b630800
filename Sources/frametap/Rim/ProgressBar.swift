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
        guard let total, total > 0, isatty(STDERR_FILENO) == 1, Environment["TERM"] != "dumb" else { return nil }
        line = ProgressLine(total: total, start: Timestamp(nanoseconds: 0))
    }

    func update(bytes: Int, packets: Int) {
        let (seconds, attoseconds) = (ContinuousClock.now - start).components
        let now = Timestamp(seconds: seconds, nanoseconds: attoseconds / 1_000_000_000)
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        if let text = line.update(bytes: bytes, packets: packets, now: now, columns: isKnown ? Int(size.ws_col) : 80) {
            StatusLine.show(text)
        }
    }

    func clear() {
        StatusLine.clear()
    }
}
