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

    private struct Recorded: Hashable {
        var binding: Int
        var value: JSONValue
    }

    private var table: ContentTable
    /// For each value of a binding in the recording, the actual one.
    private var actual: [Recorded: JSONValue] = [:]

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

    /// A frame of the recording arrived, with the actual values of bindings.
    package mutating func note(recorded: RecordedItem, actual item: RecordedItem) {
        let there = table.enter(item).bound
        for bound in table.enter(recorded).bound {
            guard let partner = there.first(where: { $0.path == bound.path && $0.binding == bound.binding }) else {
                continue
            }
            actual[Recorded(binding: bound.binding, value: bound.value)] = partner.value
        }
    }

    /// A frame of the recording with the actual values filled in.
    package mutating func filled(_ item: RecordedItem) -> RecordedItem {
        guard case .frame(var frame) = item else { return item }
        for bound in table.enter(item).bound {
            guard let value = actual[Recorded(binding: bound.binding, value: bound.value)] else { continue }
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
