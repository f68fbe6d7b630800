import Framing
import Streams
import Trace

/// Identifies frames by what is compared in them, and fills in the values that a binding repeats: for replaying a trace.
package struct Echoes {
    /// A frame's identity for comparison.
    package struct Known: Hashable {
        /// Equal for frames that are the same under the rules.
        package let content: Int
        /// Equal for frames of a direction and type.
        package let kind: Int
    }

    /// Values of bindings: for each in the recording, the actual one.
    package struct Values: Sendable {
        fileprivate struct Recorded: Hashable {
            var binding: Int
            var value: JSONValue

            init(_ bound: ContentTable.Bound) { (binding, value) = (bound.binding, bound.value) }
        }

        fileprivate var actual: [Recorded: JSONValue] = [:]

        /// No values known yet.
        package init() {}

        /// Adds values; newer ones replace older ones.
        package mutating func add(_ newer: Values) { actual.merge(newer.actual) { $1 } }
    }

    private var table: ContentTable
    /// The values noted so far.
    package private(set) var values = Values()

    /// No values known yet.
    package init(_ rules: TraceRules) {
        table = ContentTable(rules)
    }

    /// A frame's identity.
    package mutating func known(_ item: RecordedItem) -> Known {
        let entry = table.enter(item)
        return Known(content: entry.content, kind: entry.kind)
    }

    /// The dissimilarity of two frames; nil if they have too little in common.
    package func distance(_ left: Known, _ right: Known) -> Int? {
        table.cost(left.content, right.content, sameKind: left.kind == right.kind)
    }

    /// What differs between two frames.
    package func changes(_ left: Known, _ right: Known) -> [FieldChange] { table.changes(left.content, right.content) }

    /// Whether two frames differ only in how long their bodies are, which are the same by structure.
    package func differInLength(_ left: Known, _ right: Known, of old: RecordedItem, _ new: RecordedItem) -> Bool {
        left.kind == right.kind && left.content != right.content && BodyLengths.differ(old, new)
            && BodyLengths.leavingOut(changes(left, right), old, new).isEmpty
    }

    /// A frame of the recording arrived, with the actual values of bindings.
    ///
    /// - Returns: the values that it has.
    @discardableResult
    package mutating func note(recorded: RecordedItem, actual item: RecordedItem) -> Values {
        var noted = Values()
        let (old, new) = (table.enter(recorded), table.enter(item))
        for (old, new) in BoundValues.shared(old, new) { noted.actual[Values.Recorded(old)] = new.value }
        values.add(noted)
        return noted
    }

    /// Of the values noted so far, those that a frame of the recording repeats.
    package mutating func values(of item: RecordedItem) -> Values {
        var repeated = Values()
        for bound in table.enter(item).bound {
            let recorded = Values.Recorded(bound)
            repeated.actual[recorded] = values.actual[recorded]
        }
        return repeated
    }

    /// A frame of the recording with the values filled in that were noted here.
    package mutating func filled(_ item: RecordedItem) -> RecordedItem { filled(item, values) }

    /// A frame of the recording with actual values filled in; the first of `known` that has one decides.
    package mutating func filled(_ item: RecordedItem, _ known: Values...) -> RecordedItem {
        guard case .frame(var frame) = item else { return item }
        for bound in table.enter(item).bound {
            let recorded = Values.Recorded(bound)
            guard let value = known.lazy.compactMap({ $0.actual[recorded] }).first else { continue }
            let steps = table.paths.steps[bound.path]
            switch steps.first {
            case .member("fields"): frame.fields = frame.fields.replacing(steps.dropFirst(), with: value)
            case .member("body"): frame.body = frame.body.replacing(steps.dropFirst(), with: value)
            default: break
            }
        }
        return .frame(frame)
    }
}
