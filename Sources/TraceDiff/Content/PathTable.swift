import Expressions
import Streams

/// The paths that frames have, each with a number, and what the rules say of each.
struct PathTable {
    /// What the rules say of a value.
    enum Verdict {
        case compared
        case ignored
        /// It may be any.
        case masked
        /// What the pattern finds in its text may be any.
        case partlyMasked(Pattern)
        /// It belongs to a binding, by its place in the rules.
        case bound(Int)
    }

    private struct Child: Hashable {
        var parent: Int
        var step: FieldPath.Step
    }

    private struct Asked: Hashable {
        var kind: Int
        var path: Int
    }

    private var children: [Child: Int] = [:]
    private(set) var steps: [[FieldPath.Step]] = [[]]
    private var verdicts: [Asked: Verdict] = [:]
    private let rules: TraceRules
    private let hasRules: Bool

    init(_ rules: TraceRules) {
        self.rules = rules
        hasRules = rules != TraceRules()
    }

    /// The number of the frame itself, from which all paths start.
    static let root = 0

    /// The number of the path one step further.
    mutating func path(from parent: Int, _ step: FieldPath.Step) -> Int {
        let child = Child(parent: parent, step: step)
        if let known = children[child] { return known }
        let number = steps.count
        steps.append(steps[parent] + [step])
        children[child] = number
        return number
    }

    /// What the rules say of a path in frames of a kind.
    ///
    /// - Parameter kind: stands for `from` and `type`.
    mutating func verdict(on path: Int, kind: Int, from: Direction, type: String?) -> Verdict {
        guard hasRules else { return .compared }
        let asked = Asked(kind: kind, path: path)
        if let known = verdicts[asked] { return known }
        let verdict = decide(steps[path], from, type)
        verdicts[asked] = verdict
        return verdict
    }

    private func decide(_ path: [FieldPath.Step], _ from: Direction, _ type: String?) -> Verdict {
        if rules.ignored.contains(where: { $0.covers(from, type, path) }) { return .ignored }
        for (number, binding) in rules.bindings.enumerated()
        where binding.places.contains(where: { $0.covers(from, type, path) }) {
            return .bound(number)
        }
        let masks = rules.masks.filter { $0.place.covers(from, type, path) }
        // All of a value goes before a part of it.
        if masks.contains(where: { $0.pattern == nil }) { return .masked }
        return masks.first?.pattern.map { .partlyMasked($0) } ?? .compared
    }
}
