import Framing
import Trace

/// Fields that state how long a body is. Bodies that are the same by structure may have different lengths: JSON may be written with
/// other spacing.
enum BodyLengths {
    /// The changes between two frames; if their bodies are the same, without those of fields that grow with the body.
    static func leavingOut(_ changes: [FieldChange], _ old: RecordedItem, _ new: RecordedItem) -> [FieldChange] {
        guard !changes.isEmpty, !changes.contains(where: { $0.path.hasPrefix("body") }),
            case .frame(let old) = old, case .frame(let new) = new,
            let left = old.body["length"]?.integer, let right = new.body["length"]?.integer, left != right
        else { return changes }
        // A body that is compressed or encrypted grows otherwise than what it is decoded to.
        let growths = [right - left, new.length - old.length]
        return changes.filter { change in
            guard change.path.hasPrefix("fields"), let before = number(change.old), let after = number(change.new)
            else { return true }
            let (growth, overflow) = after.subtractingReportingOverflow(before)
            return overflow || !growths.contains(growth)
        }
    }

    /// A field's number; in text formats, it is a text.
    private static func number(_ value: JSONValue?) -> Int? { value?.integer ?? value?.string.flatMap { Int($0) } }
}
