import Framing
import Streams

/// A finding of an analysis about a connection.
public struct Finding: Hashable, Sendable {
    /// The fixed list of kinds.
    public enum Kind: String, Sendable, CaseIterable {
        /// No heartbeat for longer than the format allows.
        case heartbeatGap = "heartbeat-gap"
        /// A heartbeat was late, but not late enough for a gap.
        case lateHeartbeat = "late-heartbeat"
        /// A heartbeat ended a gap; with the cause of the gap.
        case heartbeatResumed = "heartbeat-resumed"
        /// No heartbeat ended a gap, although the connection stayed open; with the cause of the gap.
        case heartbeatStopped = "heartbeat-stopped"
        /// There was no first heartbeat.
        case heartbeatNever = "heartbeat-never"
        /// During a gap the sender sent other frames.
        case trafficWithoutHeartbeats = "traffic-without-heartbeats"
        /// A silence is so long that the other side may act on it.
        case evictionWindow = "eviction-window"
        /// The other side should have acted on a silence by now, and has not.
        case evictionOverdue = "eviction-overdue"
        /// The connection was closed when a silence could be the reason; whether that matches the contract.
        case evictionClose = "eviction-close"
        /// A heartbeat was not answered in time.
        case heartbeatUnanswered = "heartbeat-unanswered"
        /// A request was not answered.
        case unanswered
        /// An answer arrived after its deadline.
        case lateAnswer = "late-answer"
        /// An answer arrived without a request.
        case answerWithoutRequest = "answer-without-request"
        /// An answer arrived before that of an older request.
        case answerOutOfOrder = "answer-out-of-order"
        /// A message that the server should have relayed was not delivered to a receiver; from reports only.
        case deliveryMissing = "delivery-missing"
        /// It was delivered twice; from reports only.
        case deliveryTwice = "delivery-twice"
        /// It was delivered before an older one; from reports only.
        case deliveryOutOfOrder = "delivery-out-of-order"
        /// A frame that a published receiver of the format would have mishandled; only if requested.
        case hazard
        /// A client reconnected repeatedly, each time immediately.
        case reconnectStorm = "reconnect-storm"
        /// The proxy could not reach the server; live only.
        case connectFailed = "connect-failed"
        /// A frame's checksum does not match its bytes.
        case badChecksum = "bad-checksum"
        /// Numbers that a frame's number should follow were left out.
        case sequenceGap = "sequence-gap"
        /// A frame's number is one from before.
        case sequenceRepeat = "sequence-repeat"
        /// A body that should be JSON is not.
        case badJSON = "bad-json"
        /// A body is not encoded as the format specifies: Protobuf, Base64, gzip …, or decodes to more than is allowed.
        case badBody = "bad-body"
        /// A body decrypted with the key is not what the format specifies.
        case wrongKey = "wrong-key"
        /// Bytes were retransmitted with different content; from captures only.
        case conflict
        /// Bytes arrived after they had been declared missing; from captures only.
        case lateData = "late-data"
        /// Bytes after their sender's FIN; from captures only.
        case dataAfterEnd = "data-after-end"
        /// A TLS handshake failed, or TLS broke later: an alert, a record that cannot be decrypted.
        case tlsFailed = "tls-failed"
        /// A side's TLS ended without a close_notify: its data may be truncated.
        case tlsTruncated = "tls-truncated"
        /// There are no keys to decrypt a connection's TLS.
        case tlsKeysMissing = "tls-keys-missing"
        /// Bytes held for a connection were discarded, because all connections together held too much.
        case memoryLimit = "memory-limit"
    }

    /// Its severity.
    public enum Severity: String, Sendable, CaseIterable {
        /// Worth knowing.
        case info
        /// Probably unintended.
        case warning
        /// Certainly wrong.
        case error
    }

    /// Its kind.
    public var kind: Kind
    /// Its severity.
    public var severity: Severity
    /// The connection's number.
    public var connection: Int
    /// `out` if it is about what the proxy passed on; nil if it is about what both sides sent.
    public var leg: Leg?
    /// The name of the connection's format, under which the summary counts it.
    public var format: String?
    /// The side responsible for it.
    public var from: Direction
    /// Its time: that of the deadline, not when it was noticed.
    public var time: Timestamp
    /// For people.
    public var message: String
    /// Machine-readable: what was expected, what was seen, and the evidence.
    public var data: [Field]

    /// A finding.
    public init(
        kind: Kind, severity: Severity, connection: Int, leg: Leg? = nil, format: String?, from: Direction,
        time: Timestamp, message: String, data: [Field]
    ) {
        self.kind = kind
        self.severity = severity
        (self.connection, self.leg) = (connection, leg)
        self.format = format
        self.from = from
        self.time = time
        self.message = message
        self.data = data
    }
}

extension Finding {
    /// How many it counts as: one that stands for those beyond the first ones says how many they are.
    package var occurrences: Int {
        guard case .integer(let count) = data.first(where: { $0.name == "count" })?.value else { return 1 }
        return max(1, Int(clamping: count))
    }
}

extension Finding.Kind {
    /// Its name in a summary, in the singular; the plural has an s at its end.
    var noun: String {
        switch self {
        case .heartbeatGap: "gap"
        case .lateHeartbeat: "late heartbeat"
        case .heartbeatResumed: "ended gap"
        case .heartbeatStopped: "heartbeat stop"
        case .heartbeatNever: "missing first heartbeat"
        case .trafficWithoutHeartbeats: "busy gap"
        case .evictionWindow: "long silence"
        case .evictionOverdue: "overdue eviction"
        case .evictionClose: "silent close"
        case .heartbeatUnanswered: "unanswered heartbeat"
        case .unanswered: "unanswered request"
        case .lateAnswer: "late answer"
        case .answerWithoutRequest: "unasked answer"
        case .answerOutOfOrder: "disordered answer"
        case .deliveryMissing: "lost message"
        case .deliveryTwice: "repeated message"
        case .deliveryOutOfOrder: "disordered message"
        case .hazard: "hazard"
        case .reconnectStorm: "reconnect storm"
        case .connectFailed: "failed connect"
        case .badChecksum: "bad checksum"
        case .sequenceGap: "sequence gap"
        case .sequenceRepeat: "sequence repeat"
        case .badJSON: "JSON fault"
        case .badBody: "body fault"
        case .wrongKey: "wrong key"
        case .conflict: "conflict"
        case .lateData: "late segment"
        case .dataAfterEnd: "FIN overrun"
        case .memoryLimit: "eviction"
        case .tlsFailed: "TLS failure"
        case .tlsTruncated: "TLS truncation"
        case .tlsKeysMissing: "undecrypted TLS connection"
        }
    }
}
