import Streams
import Trace

/// What one run of a conversation came to.
struct Outcome: Sendable {
    /// What the server said, by connection.
    var items: [[RecordedItem]]
    /// Who did not go on, and how; nil if all steps were taken.
    var failure: Failure?
    /// How many cuts there were between writes, and how many of them were proven.
    var cuts = 0
    var proven = 0
    /// The longest wait for an answer.
    var slowest = Interval(nanoseconds: 0)
    /// What had arrived before each step, of what was awaited there.
    var reached: [[Script.Need]] = []
    /// How many awaited frames had not arrived at the end.
    var unanswered = 0
    /// How the server ended each connection; nil: it did not.
    var ends: [Ending?] = []
    /// Which connections the server closed, each after its client.
    var closes: [Bool]

    /// Why a run ended early.
    enum Failure: Hashable, Sendable {
        /// Nothing more arrived in time, after this message.
        case noAnswer(message: Int?)
        /// The server ended a connection, after this message.
        case closed(Ending, message: Int?)
        /// It could not be connected to.
        case refused(String)
        /// The server did not close a connection after its client.
        case notClosed
    }
}
