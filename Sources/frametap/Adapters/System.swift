import Platform
import Streams
import Trace

/// The error of the last failed call of the C library, in words.
func systemError() -> String { String(cString: strerror(errno)) }

/// Environment variables by name.
enum Environment {
    static subscript(name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// The user's time zone.
enum LocalTime {
    /// How far local time is ahead of UTC at an instant, in seconds.
    @Sendable static func utcOffset(at time: Timestamp) -> Int {
        var seconds = time_t(time.nanoseconds / 1_000_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return 0 }
        return parts.tm_gmtoff
    }
}

/// Writes to standard error: diagnostics and progress.
func warn(_ message: String) {
    StatusLine.clear()
    writeToStandardError("frametap: \(printable(message))\n")
}

/// A message made safe for a terminal: file names and option values may contain anything. Lines after the first one are indented,
/// so that none of them can be mistaken for a message of its own.
func printable(_ message: String) -> String {
    let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { PrintableText.of($0) }
    guard let first = lines.first else { return "" }
    return lines.dropFirst().reduce(first) { $0 + "\n" + ($1.isEmpty || $1.hasPrefix(" ") ? "" : "  ") + $1 }
}

/// Writes text to standard error, as far as it accepts it. A blocked reader is not waited for.
func writeToStandardError(_ text: String) {
    let bytes = Array(text.utf8)
    var poll = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
    guard CLibrary.poll(&poll, milliseconds: 200) != 0 else { return }
    _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
