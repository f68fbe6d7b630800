import Framing
import Trace

/// Fields that state how long a body is. Bodies that are the same by structure may have different lengths: JSON may be written with
/// other spacing.
enum BodyLengths {
    /// At most how many bytes a length counts in addition to the body, or does not count of the frame.
    private static let head = 64

    /// Whether the bodies of two frames have different lengths.
    static func differ(_ old: RecordedItem, _ new: RecordedItem) -> Bool {
        guard case .frame(let old) = old, case .frame(let new) = new, let left = old.body["length"]?.integer,
            let right = new.body["length"]?.integer
        else { return false }
        return left != right
    }

    /// The changes between two frames; if their bodies are the same, without those of fields that grow with the body.
    static func leavingOut(_ changes: [FieldChange], _ old: RecordedItem, _ new: RecordedItem) -> [FieldChange] {
        guard !changes.isEmpty, !changes.contains(where: { $0.path.hasPrefix("body") }),
            case .frame(let old) = old, case .frame(let new) = new,
            let left = old.body["length"]?.integer, let right = new.body["length"]?.integer, left != right
        else { return changes }
        func states(_ before: Int, _ after: Int) -> Bool {
            // The body's length and a constant; or, if it is compressed or encrypted, the frame's without its head.
            for (lengths, constants) in [((left, right), 0...head), ((old.length, new.length), -head...0)] {
                let (constant, overflow) = before.subtractingReportingOverflow(lengths.0)
                guard !overflow, constants.contains(constant) else { continue }
                if after.subtractingReportingOverflow(lengths.1) == (constant, false) { return true }
            }
            return false
        }
        return changes.filter { change in
            guard change.path.hasPrefix("fields"), let before = number(change.old), let after = number(change.new)
            else { return true }
            return !states(before, after)
        }
    }

    /// A field's number; in text formats, it is a text.
    private static func number(_ value: JSONValue?) -> Int? { value?.integer ?? value?.string.flatMap { Int($0) } }
}
