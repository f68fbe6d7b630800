import Framing
import Streams
import Trace

/// A difference as one JSON object (`docs/diff.md`).
package enum DiffJSON {
    /// The object, compact, followed by a line feed.
    package static func of(_ difference: TraceDifference) -> String {
        let counts = difference.counts.map { JSONValue.Member(name($0.kind), number($0.count)) }
        return JSONValue.object([
            .init("same", .boolean(difference.isEmpty)), .init("counts", .object(counts)),
            .init("masked", masked(difference)),
            .init("connections", .array(difference.conversations.map(conversation))),
        ]).compactText + "\n"
    }

    /// The masked share.
    private static func masked(_ difference: TraceDifference) -> JSONValue {
        .object([
            .init("characters", number(difference.share.masked)), .init("of", number(difference.share.characters)),
            .init("frames", number(difference.share.maskedFrames)), .init("ofFrames", number(difference.share.frames)),
        ])
    }

    /// `removed connection` is `removedConnections`.
    private static func name(_ kind: String) -> String {
        switch kind {
        case "removed connection": "removedConnections"
        case "added connection": "addedConnections"
        case "connection": "connectionChanges"
        default: kind
        }
    }

    private static func number(_ value: Int) -> JSONValue { .number(String(value)) }

    private static func conversation(_ conversation: ConversationDifference) -> JSONValue {
        let differences = conversation.rows.compactMap { row($0, conversation) }
        let beats = conversation.heartbeats.map { beats in
            JSONValue.object([
                .init("from", .text(beats.from.sender)), .init("type", beats.type.map(JSONValue.text) ?? .null),
                .init("expected", number(beats.expected)), .init("actual", number(beats.actual)),
                .init("allowance", number(beats.allowance)), .init("same", .boolean(beats.isExplained)),
                .init("fields", .array(beats.changes.map(change))),
            ])
        }
        return .object([
            .init("expected", conversation.expected.map { number($0.number) } ?? .null),
            .init("actual", conversation.actual.map { number($0.number) } ?? .null),
            .init("same", .boolean(conversation.isEmpty)),
            .init("frames", number(conversation.rows.count)), .init("crossings", number(conversation.crossings)),
            .init("changes", .array(conversation.changes.map(change))),
            .init("differences", .array(differences)), .init("heartbeats", .array(beats)),
        ])
    }

    private static func row(_ row: ConversationDifference.Row, _ conversation: ConversationDifference) -> JSONValue? {
        func members(_ kind: String, _ old: Int?, _ new: Int?) -> [JSONValue.Member] {
            let item = old.map { conversation.expectedItems[$0] } ?? new.map { conversation.actualItems[$0] }
            return [.init("kind", .text(kind)), .init("from", item.map { .text($0.from.sender) } ?? .null)]
                + [old.map { .init("expected", frame(conversation.expectedItems[$0], $0)) }].compactMap { $0 }
                + [new.map { .init("actual", frame(conversation.actualItems[$0], $0)) }].compactMap { $0 }
        }
        switch row {
        case .same: return nil
        case .removed(let old): return .object(members("removed", old, nil))
        case .added(let new): return .object(members("added", nil, new))
        case .moved(let old, let new): return .object(members("moved", old, new))
        case .crossed(let old, let new): return .object(members("crossed", old, new))
        case .changed(let old, let new, let changes):
            return .object(members("changed", old, new) + [.init("fields", .array(changes.map(change)))])
        }
    }

    private static func frame(_ item: RecordedItem, _ place: Int) -> JSONValue {
        switch item {
        case .frame(let frame):
            .object([
                .init("place", number(place)), .init("index", number(frame.index)),
                .init("type", frame.type.map(JSONValue.text) ?? .null), .init("fields", frame.fields),
                .init("body", frame.body),
            ])
        case .unframed(let run):
            .object([
                .init("place", number(place)), .init("unframed", .text(run.reason)),
                .init("length", number(run.length)),
            ])
        case .missing(let run): .object([.init("place", number(place)), .init("missing", number(run.length))])
        }
    }

    private static func change(_ change: FieldChange) -> JSONValue {
        .object(
            [
                .init("path", .text(change.path)), .init("old", printed(change.old)), .init("new", printed(change.new)),
            ] + (change.note.map { [.init("note", .text($0))] } ?? []))
    }

    /// A number that is partly masked is none in JSON: it is printed as text.
    private static func printed(_ value: JSONValue?) -> JSONValue {
        if case .number(let text)? = value, Double(text) == nil { return .text(text) }
        return value ?? .null
    }
}
