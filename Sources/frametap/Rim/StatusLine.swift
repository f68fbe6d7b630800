import Synchronization

/// The last line of the terminal, while it says how far something has come. Whatever else is written goes before it.
enum StatusLine {
    private static let isShown = Atomic(false)

    /// Shows a line in place of the one before.
    static func show(_ text: String) {
        isShown.store(true, ordering: .relaxed)
        writeToStandardError("\r\(text)\u{1b}[K")
    }

    /// Takes the line away.
    static func clear() {
        if isShown.exchange(false, ordering: .relaxed) { writeToStandardError("\r\u{1b}[K") }
    }
}
