import Streams
import Trace

/// A connection into which frames are sent by hand.
protocol SendingConnection: AnyObject {
    /// What the other side has said.
    var answered: [FrameEvent] { get }
    /// Whether it can still answer.
    var isOpen: Bool { get }
    /// Sends a frame, and waits for the answer.
    ///
    /// - Returns: why there is none.
    func send(_ bytes: [UInt8]) async throws -> MissingAnswer?
}

/// Why there is no answer to a frame.
struct MissingAnswer {
    var reason: String
    /// Whether the frame was sent at all.
    var isSent = true
}

extension SendingConnection {
    /// If nothing follows an answer for this long, it is the last one.
    static var quiet: Interval { .milliseconds(60) }

    /// Says that there was no answer in this time.
    static func unanswered(in timeout: Interval) -> MissingAnswer {
        MissingAnswer(reason: "no answer in \(timeout.seconds) s")
    }
}
