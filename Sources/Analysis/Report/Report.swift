import Framing
import Streams
import Trace

/// The results of a whole trace, shown together.
package struct Report {
    /// What was decoded.
    package var source = ""
    /// The connections reported in detail, in order of opening.
    package internal(set) var connections: [ConnectionReport] = []
    /// How many more there were.
    package internal(set) var unlisted = 0
    /// The round trips of all connections, by the types of request and answer.
    package internal(set) var roundTrips: [RoundTripRow] = []
    /// The outcome of messages that servers relay, by format.
    package internal(set) var deliveries: [(format: String, outcome: Deliveries.Outcome)] = []
    /// The skew between the receivers of broadcasts, by format.
    package internal(set) var broadcasts: [(format: String, outcome: BroadcastSkew.Outcome)] = []
    /// The findings, most severe first; a limited number.
    package internal(set) var findings: [Finding] = []
    /// How many more there were.
    package internal(set) var moreFindings = 0
    /// The counts of everything.
    package internal(set) var summary = Summary()

    /// How many connections are reported in detail.
    package static let mostConnections = 200
    /// How many findings.
    package static let mostFindings = 10_000
}

/// The round trips between two types of frames.
package struct RoundTripRow {
    /// The format's name.
    package var format: String
    /// The request's type; a dash if it has none.
    package var request: String
    /// The answer's.
    package var answer: String
    /// The side that sent the request.
    package var from: Direction
    /// How long they took.
    package var times: RoundTripTimes
}

/// The results of one connection.
package final class ConnectionReport {
    /// A time without heartbeats.
    package struct Gap {
        /// When the last heartbeat arrived.
        package var start: Timestamp
        /// When the next one did; nil while none has.
        package var end: Timestamp?
        /// Who should have sent one.
        package var from: Direction
        /// Its cause, and why; empty while undetermined.
        package var blame = ""
        /// For people.
        package var reason = ""
    }

    /// The frames of a direction, by segmentation.
    package struct Cuts {
        /// Frames in one chunk, in two, in three, and so on; the last counts all that spanned more.
        package var frames = [Int](repeating: 0, count: 8)
        /// Chunks with the end of one frame and no other's bytes, with two frames, three, and so on; the last counts more.
        package var chunks = [Int](repeating: 0, count: 8)
    }

    /// How it began.
    package let opening: Opening
    /// The format's name; nil if it was not recognized.
    package internal(set) var format: String?
    /// How it ended.
    package internal(set) var closing: Closing?
    /// What each side sent.
    package internal(set) var counts = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
    /// Heartbeats of each side.
    package internal(set) var heartbeats = PerDirection(fromClient: 0, fromServer: 0)
    /// How many frames there are of each type, of each side.
    package internal(set) var types: PerDirection<[String: Int]> = PerDirection(fromClient: [:], fromServer: [:])
    /// How frames were segmented.
    package internal(set) var cuts = PerDirection(fromClient: Cuts(), fromServer: Cuts())
    /// Its traffic over time.
    package internal(set) var timeLine: TimeLine
    /// Times without heartbeats.
    package internal(set) var gaps: [Gap] = []
    /// Round trips.
    package internal(set) var roundTrips: [RoundTripRow] = []
    /// TCP's own.
    package internal(set) var tcp: TCPRoundTrips.Times?
    /// How many findings there are.
    package internal(set) var findings = 0

    /// How many types and gaps are remembered.
    static let most = 256

    init(_ opening: Opening) {
        self.opening = opening
        timeLine = TimeLine(start: opening.time)
    }

    /// When it ended, as far as known.
    package var end: Timestamp { closing?.time ?? opening.time }
}
