import Expressions
import Streams
import Trace

/// Finds out from runs that should be equal what differs in each (masked), and what one side repeats of the other (bound).
public enum RuleLearning {
    /// How much of a value may be any: what one of the patterns finds, or all of it.
    private enum Extent: Equatable {
        case all
        case parts([String])
    }

    private typealias Learned = [TraceRules.Place: Extent]

    /// How often runs are aligned anew: with more masked, frames may find better partners.
    private static let mostRounds = 6

    /// The rules under which the runs are the same, as far as masks and bindings can make them so.
    ///
    /// - Parameter comparison: what is compared; its rules are part of the result.
    public static func rules(from runs: [RecordedTrace], _ comparison: Comparison = Comparison()) -> TraceRules {
        guard let first = runs.first, runs.count > 1 else { return comparison.rules }
        var comparison = comparison
        var learned: Learned = [:]
        var ignored: Set<String> = []
        let given = comparison.rules
        for _ in 0..<mostRounds {
            let before = learned
            for run in runs.dropFirst() {
                let difference = TraceComparison.compare(expected: first, actual: run, comparison)
                for conversation in difference.conversations {
                    learn(from: conversation, into: &learned)
                    // Where both sides close at once, who is first is chance.
                    ignored.formUnion(conversation.changes.map(\.path))
                }
            }
            if learned == before { break }
            comparison.rules = given
            comparison.rules.masks += masks(learned)
        }
        let chance = ["closed.by", "closed.reason"].filter(ignored.contains).compactMap { FieldPath($0) }
        // Only what may be anything as a whole can be somebody's echo.
        let whole = Set(learned.filter { $0.value == .all }.keys)
        let bindings = EchoSearch.bindings(in: runs, among: whole).filter { binding in
            holds(binding, in: runs, given, learned, comparison)
        }
        let bound = Set(bindings.flatMap(\.places))
        var rules = given
        rules.masks += masks(learned.filter { !bound.contains($0.key) })
        rules.bindings += bindings
        rules.ignored += chance.map { TraceRules.Place(path: $0) }
        return rules
    }

    private static func masks(_ learned: Learned) -> [TraceRules.Mask] {
        learned.sorted { "\($0.key)" < "\($1.key)" }.map { place, extent in
            guard case .parts(let patterns) = extent else { return TraceRules.Mask(place) }
            return TraceRules.Mask(place, pattern: try? Pattern(parsing: patterns.joined(separator: "|")))
        }
    }

    /// Notes what changed; of a text in a body, which part of it.
    private static func learn(from conversation: ConversationDifference, into learned: inout Learned) {
        func note(_ change: FieldChange, _ from: Direction, _ type: String?) {
            guard let old = change.old, let new = change.new, let path = FieldPath(change.path),
                path.steps.first == .member("fields") || path.steps.first == .member("body")
            else { return }
            // What stands at one place of a list may stand at any.
            let steps = path.steps.map { if case .element = $0 { FieldPath.Step.any } else { $0 } }
            let place = TraceRules.Place(from: from, type: type, path: FieldPath(steps))
            learned[place] = extent(old, new, path, known: learned[place])
        }
        for row in conversation.rows {
            guard case .changed(let place, _, let changes) = row, let frame = conversation.expectedItems[place].frame
            else { continue }
            for change in changes { note(change, frame.from, frame.type) }
        }
        for beats in conversation.heartbeats { for change in beats.changes { note(change, beats.from, beats.type) } }
    }

    /// Parts of texts of bodies only: a field is small enough to be masked. Of what differs in many ways, all is.
    private static func extent(_ old: JSONValue, _ new: JSONValue, _ path: FieldPath, known: Extent?) -> Extent {
        guard path.steps == [.member("body"), .member("text")], case .text(let left) = old, case .text(let right) = new,
            !left.contains("«any»"), let pattern = VolatilePart.pattern(left, right)
        else { return .all }
        switch known {
        case .all: return .all
        case nil: return .parts([pattern])
        case .parts(let patterns):
            return patterns.contains(pattern)
                ? .parts(patterns) : patterns.count < 4 ? .parts(patterns + [pattern]) : .all
        }
    }

    /// Whether the runs are as equal with a binding as they are with masks.
    private static func holds(
        _ binding: TraceRules.Binding, in runs: [RecordedTrace], _ given: TraceRules,
        _ learned: Learned, _ comparison: Comparison
    ) -> Bool {
        var comparison = comparison
        comparison.rules = given
        comparison.rules.masks += masks(learned)
        comparison.rules.bindings.append(binding)
        return runs.dropFirst().allSatisfy { run in
            TraceComparison.compare(expected: runs[0], actual: run, comparison).conversations.allSatisfy {
                conversation in
                conversation.rows.allSatisfy { row in
                    guard case .changed(_, _, let changes) = row else { return true }
                    return changes.allSatisfy { $0.note == nil }
                }
            }
        }
    }
}
