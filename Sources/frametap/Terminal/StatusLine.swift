import Platform
import Synchronization

/// The last line of the terminal, while it says how something goes. Whatever else is written goes before it.
enum StatusLine {
    private static let isShown = Mutex(false)

    /// Whether there is a terminal that could show one.
    static var isPossible: Bool { isatty(STDERR_FILENO) == 1 && Environment["TERM"] != "dumb" }

    /// How wide that terminal is.
    static var columns: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : 80
    }

    /// Shows a line in place of the one before; not while somebody writes.
    static func show(_ text: String) {
        isShown.withLockIfAvailable { isShown in
            isShown = true
            draw(text)
        }
    }

    /// Whether something was written in the line's place.
    static var isHidden: Bool { isShown.withLockIfAvailable { !$0 } ?? false }

    /// Takes the line away, and keeps others from showing one while something is written in its place.
    static func aside(_ write: () -> Void) {
        isShown.withLock { isShown in
            hide(&isShown)
            write()
        }
    }

    /// Takes the line away. Where somebody is writing it is gone already: nobody waits for a slow terminal here.
    static func clear() {
        isShown.withLockIfAvailable { hide(&$0) }
    }

    private static func hide(_ isShown: inout Bool) {
        guard isShown else { return }
        isShown = false
        draw("")
    }

    /// Writes, where that does not have to wait: a terminal that was stopped shows no news.
    private static func draw(_ text: String) {
        var waiting = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&waiting, 1, 0) == 1 { writeToStandardError("\r\(text)\u{1b}[K") }
    }
}
