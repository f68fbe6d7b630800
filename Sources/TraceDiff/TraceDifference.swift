import Framing
import Streams
import Trace

/// How two traces differ.
public struct TraceDifference: Sendable {
    /// The connections, those of the expected trace first, in its order.
    public var conversations: [ConversationDifference]
    /// How much of the compared content the rules mask.
    public var share = MaskedShare()
    /// Whether there are rules.
    public var hasRules = false

    /// A difference of those connections.
    public init(conversations: [ConversationDifference]) {
        self.conversations = conversations
    }

    /// Whether nothing differs.
    public var isEmpty: Bool { conversations.allSatisfy(\.isEmpty) }

    /// How many differences there are of each kind; only kinds that occur.
    public var counts: [(kind: String, count: Int)] {
        var counts: [String: Int] = [:]
        for conversation in conversations {
            for row in conversation.rows { row.countedAs.map { counts[$0, default: 0] += 1 } }
            counts["heartbeats", default: 0] += conversation.heartbeats.count { !$0.isExplained }
            counts["connection", default: 0] += conversation.changes.count
            if conversation.expected == nil { counts["added connection", default: 0] += 1 }
            if conversation.actual == nil { counts["removed connection", default: 0] += 1 }
        }
        let order = [
            "removed connection", "added connection", "changed", "removed", "added", "moved", "crossed", "heartbeats",
            "connection",
        ]
        return order.compactMap { kind in counts[kind].flatMap { $0 > 0 ? (kind, $0) : nil } }
    }
}

/// How a connection of one trace differs from its partner in the other.
public struct ConversationDifference: Sendable {
    /// One step of both conversations. Places are indices of `expectedItems` and `actualItems`.
    public enum Row: Hashable, Sendable {
        /// The same on both sides.
        case same(expected: Int, actual: Int)
        /// The same frame with other values.
        case changed(expected: Int, actual: Int, [FieldChange])
        /// Only in the expected trace.
        case removed(expected: Int)
        /// Only in the actual trace.
        case added(actual: Int)
        /// The same frame at another place among those of its sender; values compared on request may differ.
        case moved(expected: Int, actual: Int)
        /// The same frame, but in a different order relative to one that the peer sent.
        case crossed(expected: Int, actual: Int)

        /// The name under which the row counts as a difference; nil for what is the same.
        var countedAs: String? {
            switch self {
            case .same: nil
            case .changed: "changed"
            case .removed: "removed"
            case .added: "added"
            case .moved: "moved"
            case .crossed: "crossed"
            }
        }

        /// Whether it is a difference.
        public var isDifference: Bool { countedAs != nil }
    }

    /// The connection of the expected trace; nil if the actual one has no partner.
    public var expected: RecordedConnection?
    /// The connection of the actual trace; nil if the expected one has no partner.
    public var actual: RecordedConnection?
    /// The expected items, without folded heartbeats.
    public var expectedItems: [RecordedItem] = []
    /// The actual items, without folded heartbeats.
    public var actualItems: [RecordedItem] = []
    /// Both conversations step by step.
    public var rows: [Row] = []
    /// Folded heartbeats, by sender and type.
    public var heartbeats: [HeartbeatDifference] = []
    /// Differences other than frames: how the connection ended, its format, its addresses.
    public var changes: [FieldChange] = []
    /// How many frames were in a different order relative to the other side's, if that is not compared.
    public var crossings = 0
    /// Whether one side ended with FIN and the other with a reset, if that is not compared.
    public var endsOtherwise = false

    /// Whether nothing differs.
    public var isEmpty: Bool {
        expected != nil && actual != nil && changes.isEmpty && heartbeats.allSatisfy(\.isExplained)
            && !rows.contains(where: \.isDifference)
    }
}

/// A value that differs from the expected one.
public struct FieldChange: Hashable, Sendable {
    /// Where.
    public var path: String
    /// The expected value; nil: none.
    public var old: JSONValue?
    /// The actual value; nil: none.
    public var new: JSONValue?
    /// Why it is a difference, if the values do not show it.
    public var note: String?

    /// A value that differs from the expected one.
    public init(path: String, old: JSONValue?, new: JSONValue?, note: String? = nil) {
        self.path = path
        self.old = old
        self.new = new
        self.note = note
    }
}

/// Heartbeats of one sender and type, on both sides.
public struct HeartbeatDifference: Hashable, Sendable {
    /// Who sends them.
    public var from: Direction
    /// Their type.
    public var type: String?
    /// How many were expected.
    public var expected: Int
    /// How many there are.
    public var actual: Int
    /// By how many the number may differ because one conversation was longer than the other.
    public var allowance: Int
    /// The difference in their content, if that is always the same on the expected side.
    public var changes: [FieldChange] = []
    /// Two of them that differ.
    var expectedFrame: FrameEvent?
    var actualFrame: FrameEvent?

    /// Whether their number is within the tolerance, and their content equal.
    public var isExplained: Bool { abs(expected - actual) <= allowance && changes.isEmpty }
}
