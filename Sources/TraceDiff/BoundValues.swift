import Framing
import Streams

/// Which value of a binding in one trace stands for which one in the other.
///
/// A binding may go across connections: so all values are noted before any is compared, those first that are at the binding's first
/// place, where the value is sent first, and of these the earliest.
struct BoundValues {
    private struct Key: Hashable {
        var binding: Int
        var isExpected: Bool
        var value: JSONValue

        init(_ bound: ContentTable.Bound, isExpected: Bool) {
            (binding, value) = (bound.binding, bound.value)
            self.isExpected = isExpected
        }
    }

    /// A value, and the one at the same place in the other trace.
    private struct Pair {
        var old: ContentTable.Bound
        var new: ContentTable.Bound
        var time: Timestamp
    }

    private var partners: [Key: JSONValue] = [:]
    private var waiting: [Pair] = []

    /// The bound values that two frames have at the same places.
    static func shared(
        _ old: ContentTable.Entry, _ new: ContentTable.Entry
    ) -> [(old: ContentTable.Bound, new: ContentTable.Bound)] {
        if old.bound.isEmpty || new.bound.isEmpty { return [] }
        // A frame has one value at a path.
        let there = Dictionary(new.bound.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        return old.bound.compactMap { left in
            guard let right = there[left.path], right.binding == left.binding else { return nil }
            return (old: left, new: right)
        }
    }

    /// Takes the values of two frames that were matched.
    ///
    /// - Parameter time: when the expected one was seen.
    mutating func add(_ old: ContentTable.Entry, _ new: ContentTable.Entry, at time: Timestamp) {
        waiting += Self.shared(old, new).map { Pair(old: $0.old, new: $0.new, time: time) }
    }

    /// Notes the values that were taken, unless a partner of theirs is known.
    mutating func settle() {
        let ordered = waiting.enumerated().sorted { left, right in
            let (first, other) = (left.element, right.element)
            if first.old.isFirst != other.old.isFirst { return first.old.isFirst }
            return (first.time, left.offset) < (other.time, right.offset)
        }
        for (_, pair) in ordered {
            let (here, there) = (Key(pair.old, isExpected: true), Key(pair.new, isExpected: false))
            if partners[here] == nil, partners[there] == nil {
                (partners[here], partners[there]) = (pair.new.value, pair.old.value)
            }
        }
        waiting = []
    }

    /// The value that stands for an expected one; nil if none is known.
    func partner(of old: ContentTable.Bound) -> JSONValue? { partners[Key(old, isExpected: true)] }

    /// Whether two values stand for each other.
    func isPair(_ old: ContentTable.Bound, _ new: ContentTable.Bound) -> Bool {
        partner(of: old) == new.value && partners[Key(new, isExpected: false)] == old.value
    }
}
