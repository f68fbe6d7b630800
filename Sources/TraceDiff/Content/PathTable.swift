import Expressions
import Streams

/// The paths that frames have, each with a number, and the rules that apply to each.
struct PathTable {
    /// The rule that applies to a value.
    enum Verdict {
        case compared
        case ignored
        /// It is masked.
        case masked
        /// The patterns' matches in its text are masked, and the placeholders of a template that fits.
        case partlyMasked(TextMask)
        /// It belongs to a binding, by its index in the rules, and is at its first place or not. If templates are given, one must fit.
        case bound(Int, isFirst: Bool, TextMask)
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
    /// The first children of each path: objects usually have few members, and comparing them is quicker than hashing.
    private var firstChildren: [[(step: FieldPath.Step, path: Int)]] = [[]]
    private static let mostFirst = 8
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

    /// The number of the path extended by one step.
    mutating func path(from parent: Int, _ step: FieldPath.Step) -> Int {
        for child in firstChildren[parent] where child.step == step { return child.path }
        let child = Child(parent: parent, step: step)
        let isFirst = firstChildren[parent].count < Self.mostFirst
        if !isFirst, let known = children[child] { return known }
        let number = steps.count
        steps.append(steps[parent] + [step])
        firstChildren.append([])
        if isFirst { firstChildren[parent].append((step, number)) } else { children[child] = number }
        return number
    }

    /// The rule that applies to a path in frames of a kind.
    ///
    /// - Parameter kind: represents `from` and `type`.
    mutating func verdict(on path: Int, kind: Int, from: Direction, type: String?) -> Verdict {
        guard hasRules else { return .compared }
        let asked = Asked(kind: kind, path: path)
        if let known = verdicts[asked] { return known }
        let verdict = decide(steps[path], from, type)
        verdicts[asked] = verdict
        return verdict
    }

    /// Whether rules ignore something that an object or a list at a path may contain.
    func ignoresInside(_ path: Int, isList: Bool, from: Direction, type: String?) -> Bool {
        hasRules
            && rules.ignored.contains {
                $0.frames.covers(from, type) && $0.path.reaches(into: steps[path], isList: isList)
            }
    }

    private func decide(_ path: [FieldPath.Step], _ from: Direction, _ type: String?) -> Verdict {
        if rules.ignored.contains(where: { $0.covers(from, type, path) }) { return .ignored }
        let masks = rules.masks.filter { $0.place.covers(from, type, path) }
        let mask = TextMask(masks)
        for (number, binding) in rules.bindings.enumerated() {
            guard let place = binding.places.firstIndex(where: { $0.covers(from, type, path) }) else { continue }
            return .bound(number, isFirst: place == 0, mask)
        }
        // A mask over all of a value takes precedence over one over a part.
        if masks.contains(where: { $0.pattern == nil && $0.template == nil }) { return .masked }
        return mask.isEmpty ? .compared : .partlyMasked(mask)
    }
}

/// Which parts of the texts at a place are masked, by all of the masks over it.
struct TextMask {
    private let patterns: [Pattern]
    /// The most general ones first: so that both sides choose the same one of two that fit.
    private let templates: [TextTemplate]

    init(_ masks: [TraceRules.Mask]) {
        patterns = masks.compactMap(\.pattern)
        templates = masks.compactMap(\.template).sorted { left, right in
            left.generality == right.generality
                ? left.source < right.source : right.generality.lexicographicallyPrecedes(left.generality)
        }
    }

    var isEmpty: Bool { patterns.isEmpty && templates.isEmpty }
    var hasTemplates: Bool { !templates.isEmpty }

    /// A text with marks for its masked parts, and how many bytes these have; nil if nothing is masked.
    func masking(_ text: String) -> (text: String, masked: Int)? {
        for template in templates {
            if let masked = template.masking(text) { return masked }
        }
        guard !patterns.isEmpty else { return nil }
        let masked = patterns.masking(text)
        return masked.masked > 0 ? masked : nil
    }
}
