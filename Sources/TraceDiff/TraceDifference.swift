import Framing
import Streams
import Trace

/// How two traces differ.
package struct TraceDifference: Sendable {
    /// The connections, those of the expected trace first, in its order.
    package var conversations: [ConversationDifference]
    /// How much of the compared content the rules mask.
    package var share = MaskedShare()
    /// Whether there are rules.
    package var hasRules = false

    /// A difference of those connections.
    package init(conversations: [ConversationDifference]) {
        self.conversations = conversations
    }

    /// Whether nothing differs.
    package var isEmpty: Bool { conversations.allSatisfy(\.isEmpty) }

    /// How many differences there are of each kind; only kinds that occur.
    package var counts: [(kind: String, count: Int)] {
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
package struct ConversationDifference: Sendable {
    /// One step of both conversations. Places are indices of `expectedItems` and `actualItems`.
    package enum Row: Hashable, Sendable {
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
        package var isDifference: Bool { countedAs != nil }

        /// The places of a frame that both sides have; otherwise nil.
        var pair: (expected: Int, actual: Int)? {
            switch self {
            case .same(let old, let new), .changed(let old, let new, _), .moved(let old, let new),
                .crossed(let old, let new):
                (expected: old, actual: new)
            case .removed, .added: nil
            }
        }
    }

    /// The connection of the expected trace; nil if the actual one has no partner.
    package var expected: RecordedConnection?
    /// The connection of the actual trace; nil if the expected one has no partner.
    package var actual: RecordedConnection?
    /// The expected items, without folded heartbeats.
    package var expectedItems = RecordedItems()
    /// The actual items, without folded heartbeats.
    package var actualItems = RecordedItems()
    /// Both conversations step by step.
    package var rows: [Row] = []
    /// Folded heartbeats, by sender and type.
    package var heartbeats: [HeartbeatDifference] = []
    /// Differences other than frames: how the connection ended, its format, its addresses.
    package var changes: [FieldChange] = []
    /// How many frames were in a different order relative to the other side's, if that is not compared.
    package var crossings = 0
    /// How the ends differ, if that is not compared.
    package var ending: UncomparedEnding?

    /// Whether nothing differs.
    package var isEmpty: Bool {
        expected != nil && actual != nil && changes.isEmpty && heartbeats.allSatisfy(\.isExplained)
            && !rows.contains(where: \.isDifference)
    }
}

/// How the ends of two connections differ where that is chance.
package enum UncomparedEnding: Sendable {
    /// One ended with FIN, the other with a reset.
    case finOrReset
    /// The recording of one ended before the connection did.
    case unknown
}

/// A value that differs from the expected one.
package struct FieldChange: Hashable, Sendable {
    /// Where.
    package var path: String
    /// The expected value; nil: none.
    package var old: JSONValue?
    /// The actual value; nil: none.
    package var new: JSONValue?
    /// Why it is a difference, if the values do not show it.
    package var note: String?

    /// A value that differs from the expected one.
    package init(path: String, old: JSONValue?, new: JSONValue?, note: String? = nil) {
        self.path = path
        self.old = old
        self.new = new
        self.note = note
    }
}

/// Heartbeats of one sender and type, on both sides.
package struct HeartbeatDifference: Hashable, Sendable {
    /// Who sends them.
    package var from: Direction
    /// Their type.
    package var type: String?
    /// How many were expected.
    package var expected: Int
    /// How many there are.
    package var actual: Int
    /// By how many the number may differ because one conversation was longer than the other.
    package var allowance: Int
    /// The difference in their content, if that is always the same on the expected side.
    package var changes: [FieldChange] = []
    /// Two of them that differ.
    var expectedFrame: FrameEvent?
    var actualFrame: FrameEvent?

    /// Whether their number is within the tolerance, and their content equal.
    package var isExplained: Bool { abs(expected - actual) <= allowance && changes.isEmpty }
}
