import Platform
import Synchronization

/// The last line of the terminal while it shows a status. Any other output goes above it.
enum StatusLine {
    private static let isShown = Mutex(false)

    /// Whether there is a terminal that could show one.
    static var isPossible: Bool { isatty(STDERR_FILENO) == 1 && Environment["TERM"] != "dumb" }

    /// The width of that terminal.
    static var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }

    /// Replaces the line; not while other output is being written.
    static func show(_ text: String) {
        isShown.withLockIfAvailable { isShown in
            isShown = true
            draw(text)
        }
    }

    /// Whether something was written in the line's place.
    static var isHidden: Bool { isShown.withLockIfAvailable { !$0 } ?? false }

    /// Removes the line, and prevents a new one while other output is written in its place.
    static func aside(_ write: () -> Void) {
        isShown.withLock { isShown in
            hide(&isShown)
            write()
        }
    }

    /// Removes the line. If other output is being written, it is gone already: no one waits for a slow terminal here.
    static func clear() {
        isShown.withLockIfAvailable { hide(&$0) }
    }

    private static func hide(_ isShown: inout Bool) {
        guard isShown else { return }
        isShown = false
        draw("")
    }

    /// Writes if that does not block: a stopped terminal shows no updates.
    private static func draw(_ text: String) {
        var waiting = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&waiting, 1, 0) == 1 { writeToStandardError("\r\(text)\u{1b}[K") }
    }
}
