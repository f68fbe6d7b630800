import Framing
import Streams

/// How a trace is replayed.
package struct ReplayOptions: Sendable {
    /// The format of its frames.
    package var format: Format
    /// Whether recorded pauses are left out.
    package var isFast = false
    /// How long the server's answer is waited for at most, in seconds, beyond the recorded pause.
    package var patience = 2.0
    /// Takes lines for people.
    package var log: @Sendable (String) -> Void

    /// A replay with recorded pauses.
    package init(_ format: Format, log: @escaping @Sendable (String) -> Void) {
        self.format = format
        self.log = log
    }
}
