import Framing
import Streams

/// Something an analysis found out about a connection.
public struct Finding: Hashable, Sendable {
    /// The fixed list of kinds.
    public enum Kind: String, Sendable, CaseIterable {
        /// No heartbeat for longer than the format allows.
        case heartbeatGap = "heartbeat-gap"
        /// A heartbeat came later than it should, but before there was a gap.
        case lateHeartbeat = "late-heartbeat"
        /// A heartbeat ended a gap; whose fault it was.
        case heartbeatResumed = "heartbeat-resumed"
        /// No heartbeat ended a gap, although the connection stayed open; whose fault it was.
        case heartbeatStopped = "heartbeat-stopped"
        /// There was no first heartbeat.
        case heartbeatNever = "heartbeat-never"
        /// In a gap the sender sent other frames.
        case trafficWithoutHeartbeats = "traffic-without-heartbeats"
        /// Nothing was heard for so long that the other side may act on it.
        case evictionWindow = "eviction-window"
        /// The other side should have acted on a silence by now, and has not.
        case evictionOverdue = "eviction-overdue"
        /// The connection was closed when a silence could be the reason; whether it fits.
        case evictionClose = "eviction-close"
        /// A heartbeat was not answered in time.
        case heartbeatUnanswered = "heartbeat-unanswered"
        /// A request was not answered.
        case unanswered
        /// An answer came when the time for it was up.
        case lateAnswer = "late-answer"
        /// An answer came for which there was no request.
        case answerWithoutRequest = "answer-without-request"
        /// An answer came before that of an older request.
        case answerOutOfOrder = "answer-out-of-order"
        /// A message that the server should have passed on did not come to a receiver; from reports only.
        case deliveryMissing = "delivery-missing"
        /// It came twice; from reports only.
        case deliveryTwice = "delivery-twice"
        /// It came before an older one; from reports only.
        case deliveryOutOfOrder = "delivery-out-of-order"
        /// A frame at which a published receiver of the format would have gone wrong; only where that was asked for.
        case hazard
        /// A client connected repeatedly, each time at once.
        case reconnectStorm = "reconnect-storm"
        /// The proxy could not reach the server; live only.
        case connectFailed = "connect-failed"
        /// A frame's checksum is not what its bytes add up to.
        case badChecksum = "bad-checksum"
        /// A body that should be JSON is none.
        case badJSON = "bad-json"
        /// A body is not encoded as the format says: Protobuf, Base64, gzip …, or more comes out than is allowed.
        case badBody = "bad-body"
        /// What a key makes of a body is not what the format says.
        case wrongKey = "wrong-key"
        /// Bytes came again and were different; from captures only.
        case conflict
        /// Bytes came after they had been declared missing; from captures only.
        case lateData = "late-data"
        /// Bytes behind their sender's FIN; from captures only.
        case dataAfterEnd = "data-after-end"
        /// What a connection held was given up, since all connections together held too much.
        case memoryLimit = "memory-limit"
    }

    /// How much it matters.
    public enum Severity: String, Sendable, CaseIterable {
        /// Worth knowing.
        case info
        /// Probably not as intended.
        case warning
        /// Certainly wrong.
        case error
    }

    /// What kind of finding it is.
    public var kind: Kind
    /// How much it matters.
    public var severity: Severity
    /// The connection's number.
    public var connection: Int
    /// The name of the connection's format, under which the summary counts it.
    public var format: String?
    /// Whose doing it is.
    public var from: Direction
    /// What it is dated: a deadline, not when somebody looked.
    public var time: Timestamp
    /// For people.
    public var message: String
    /// For programs: what was expected, what was seen, and the evidence.
    public var data: [Field]

    /// A finding.
    public init(
        kind: Kind, severity: Severity, connection: Int, format: String?, from: Direction, time: Timestamp,
        message: String,
        data: [Field]
    ) {
        self.kind = kind
        self.severity = severity
        self.connection = connection
        self.format = format
        self.from = from
        self.time = time
        self.message = message
        self.data = data
    }
}
