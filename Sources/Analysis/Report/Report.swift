import Framing
import Streams
import Trace

/// What was found out about a whole trace, to be shown at once.
public struct Report {
    /// What was decoded.
    public var source = ""
    /// The connections that are told in detail, in order of opening.
    public internal(set) var connections: [ConnectionReport] = []
    /// How many more there were.
    public internal(set) var unlisted = 0
    /// The round trips of all connections, by the types of request and answer.
    public internal(set) var roundTrips: [RoundTripRow] = []
    /// What became of messages that servers pass on, by format.
    public internal(set) var deliveries: [(format: String, outcome: Deliveries.Outcome)] = []
    /// How far apart the receivers of broadcasts were, by format.
    public internal(set) var broadcasts: [(format: String, outcome: BroadcastSkew.Outcome)] = []
    /// What was found, that of most weight first; at most so many.
    public internal(set) var findings: [Finding] = []
    /// How many more there were.
    public internal(set) var moreFindings = 0
    /// The counts of everything.
    public internal(set) var summary = Summary()

    /// How many connections are told in detail.
    public static let mostConnections = 200
    /// How many findings.
    public static let mostFindings = 10_000
}

/// The round trips between two types of frames.
public struct RoundTripRow {
    /// The format's name.
    public var format: String
    /// The request's type; a dash where it has none.
    public var request: String
    /// The answer's.
    public var answer: String
    /// Who asked.
    public var from: Direction
    /// How long they took.
    public var times: RoundTripTimes
}

/// What was found out about one connection.
public final class ConnectionReport {
    /// A time without heartbeats.
    public struct Gap {
        /// When the last heartbeat came.
        public var start: Timestamp
        /// When the next did; nil while none has.
        public var end: Timestamp?
        /// Who should have sent one.
        public var from: Direction
        /// Whose fault it was, and why; empty while that is open.
        public var blame = ""
        /// For people.
        public var reason = ""
    }

    /// The frames of a direction, by how they were cut.
    public struct Cuts {
        /// Frames in one chunk, in two, in three, and so on; the last counts all that lay in more.
        public var frames = [Int](repeating: 0, count: 8)
        /// Chunks that held the end of one frame and no other's bytes, two frames, three, and so on; the last counts more.
        public var chunks = [Int](repeating: 0, count: 8)
    }

    /// How it began.
    public let opening: Opening
    /// The format's name; nil where it was not recognised.
    public internal(set) var format: String?
    /// How it ended.
    public internal(set) var closing: Closing?
    /// What each side sent.
    public internal(set) var counts = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
    /// Heartbeats of each side.
    public internal(set) var heartbeats = PerDirection(fromClient: 0, fromServer: 0)
    /// How many frames there are of each type, of each side.
    public internal(set) var types: PerDirection<[String: Int]> = PerDirection(fromClient: [:], fromServer: [:])
    /// How frames were cut.
    public internal(set) var cuts = PerDirection(fromClient: Cuts(), fromServer: Cuts())
    /// What passed when.
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

    /// When it was over, as far as is known.
    public var end: Timestamp { closing?.time ?? opening.time }
}
