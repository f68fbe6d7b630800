import Framing
import Streams
import Trace

/// The results of a whole trace, shown together.
public struct Report {
    /// What was decoded.
    public var source = ""
    /// The connections reported in detail, in order of opening.
    public internal(set) var connections: [ConnectionReport] = []
    /// How many more there were.
    public internal(set) var unlisted = 0
    /// The round trips of all connections, by the types of request and answer.
    public internal(set) var roundTrips: [RoundTripRow] = []
    /// The outcome of messages that servers relay, by format.
    public internal(set) var deliveries: [(format: String, outcome: Deliveries.Outcome)] = []
    /// The skew between the receivers of broadcasts, by format.
    public internal(set) var broadcasts: [(format: String, outcome: BroadcastSkew.Outcome)] = []
    /// The findings, most severe first; a limited number.
    public internal(set) var findings: [Finding] = []
    /// How many more there were.
    public internal(set) var moreFindings = 0
    /// The counts of everything.
    public internal(set) var summary = Summary()

    /// How many connections are reported in detail.
    public static let mostConnections = 200
    /// How many findings.
    public static let mostFindings = 10_000
}

/// The round trips between two types of frames.
public struct RoundTripRow {
    /// The format's name.
    public var format: String
    /// The request's type; a dash if it has none.
    public var request: String
    /// The answer's.
    public var answer: String
    /// The side that sent the request.
    public var from: Direction
    /// How long they took.
    public var times: RoundTripTimes
}

/// The results of one connection.
public final class ConnectionReport {
    /// A time without heartbeats.
    public struct Gap {
        /// When the last heartbeat arrived.
        public var start: Timestamp
        /// When the next one did; nil while none has.
        public var end: Timestamp?
        /// Who should have sent one.
        public var from: Direction
        /// Its cause, and why; empty while undetermined.
        public var blame = ""
        /// For people.
        public var reason = ""
    }

    /// The frames of a direction, by segmentation.
    public struct Cuts {
        /// Frames in one chunk, in two, in three, and so on; the last counts all that spanned more.
        public var frames = [Int](repeating: 0, count: 8)
        /// Chunks with the end of one frame and no other's bytes, with two frames, three, and so on; the last counts more.
        public var chunks = [Int](repeating: 0, count: 8)
    }

    /// How it began.
    public let opening: Opening
    /// The format's name; nil if it was not recognised.
    public internal(set) var format: String?
    /// How it ended.
    public internal(set) var closing: Closing?
    /// What each side sent.
    public internal(set) var counts = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
    /// Heartbeats of each side.
    public internal(set) var heartbeats = PerDirection(fromClient: 0, fromServer: 0)
    /// How many frames there are of each type, of each side.
    public internal(set) var types: PerDirection<[String: Int]> = PerDirection(fromClient: [:], fromServer: [:])
    /// How frames were segmented.
    public internal(set) var cuts = PerDirection(fromClient: Cuts(), fromServer: Cuts())
    /// Its traffic over time.
    public internal(set) var timeLine: TimeLine
    /// Times without heartbeats.
    public internal(set) var gaps: [Gap] = []
    /// Round trips.
    public internal(set) var roundTrips: [RoundTripRow] = []
    /// TCP's own.
    public internal(set) var tcp: TCPRoundTrips.Times?
    /// How many findings there are.
    public internal(set) var findings = 0

    /// How many types and gaps are remembered.
    static let most = 256

    init(_ opening: Opening) {
        self.opening = opening
        timeLine = TimeLine(start: opening.time)
    }

    /// When it ended, as far as known.
    public var end: Timestamp { closing?.time ?? opening.time }
}
