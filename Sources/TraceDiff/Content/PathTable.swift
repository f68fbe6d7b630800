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
        /// What the patterns find in its text may be any, and what the templates say of it where one fits.
        case partlyMasked(TextMask)
        /// It belongs to a binding, by its place in the rules. Where templates are given, one has to fit.
        case bound(Int, TextMask)
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
        let masks = rules.masks.filter { $0.place.covers(from, type, path) }
        let mask = TextMask(masks)
        for (number, binding) in rules.bindings.enumerated()
        where binding.places.contains(where: { $0.covers(from, type, path) }) {
            return .bound(number, mask)
        }
        // All of a value goes before a part of it.
        if masks.contains(where: { $0.pattern == nil && $0.template == nil }) { return .masked }
        return mask.isEmpty ? .compared : .partlyMasked(mask)
    }
}

/// What of the texts at a place may be any, by all of the masks over it.
struct TextMask {
    private let patterns: [Pattern]
    /// The most general ones first: of two that fit, both sides take the same.
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

    /// A text with marks for what may be any, and how many of its bytes that are; nil where nothing of it may.
    func masking(_ text: String) -> (text: String, masked: Int)? {
        for template in templates {
            if let masked = template.masking(text) { return masked }
        }
        guard !patterns.isEmpty else { return nil }
        let masked = patterns.masking(text)
        return masked.masked > 0 ? masked : nil
    }
}
