import Framing
import Streams
import TraceDiff

/// How a trace is replayed.
package struct ReplayOptions: Sendable {
    /// How a server handles a request that is not in the recording.
    package enum Unknown: String, CaseIterable, Sendable {
        /// It closes the connection, so that no client waits in vain.
        case close
        /// It answers as it did to the most similar request; if there is none, it closes.
        case nearest
        /// It does not answer.
        case ignore
    }

    /// The format of the trace's frames.
    package var format: Format
    /// Whether recorded pauses are left out.
    package var isFast = false
    /// How a server handles a request that is not in the recording.
    package var unknown = Unknown.close
    /// The maximum wait for the server's answer, in seconds, beyond the recorded pause.
    package var patience = 2.0
    /// What messages do not show; nil: nothing.
    package var hidden: HiddenValues?
    /// Receives messages for the user, one line each.
    package var log: @Sendable (String) -> Void

    /// A replay with recorded pauses.
    package init(_ format: Format, log: @escaping @Sendable (String) -> Void) {
        self.format = format
        self.log = log
    }
}
