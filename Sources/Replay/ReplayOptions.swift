import Framing
import Streams

/// How a trace is replayed.
package struct ReplayOptions: Sendable {
    /// What a server does on a request that the recording does not know.
    package enum Unknown: String, CaseIterable, Sendable {
        /// It closes the connection, so that no client waits in vain.
        case close
        /// It answers as it did to the nearest request; where there is none like it, it closes.
        case nearest
        /// It says nothing.
        case ignore
    }

    /// The format of its frames.
    package var format: Format
    /// Whether recorded pauses are left out.
    package var isFast = false
    /// What a server does on a request that the recording does not know.
    package var unknown = Unknown.close
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
