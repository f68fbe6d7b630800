import Framing
import Expressions
import Streams
import Trace

/// Learns from runs that should be equal which values differ in each (masked), and which ones one side repeats after the other
/// (bound).
///
/// In texts, only numbers, times, identifiers and tokens are masked, and only if the texts are otherwise the same: ordinary words
/// never are.
package enum RuleLearning {
    /// The result of learning.
    package struct Result: Sendable {
        /// The rules under which the runs are the same, as far as rules can achieve that.
        package var rules: TraceRules
        /// Differences between runs that are not masked, because they are ordinary text or not a value, as human-readable lines.
        package var remaining: [String] = []
        /// How much of the content of all runs the rules mask.
        package var share = MaskedShare()
        /// Where the content depends on a challenge that differs each time, as human-readable lines.
        package var challenges: [String] = []
    }

    private typealias Learned = [TraceRules.Place: [TextTemplate]]

    /// One value of the first run, and its path.
    private struct Occurrence: Hashable {
        var connection: Int
        var place: Int
        var path: String
    }

    /// The values at one place of a conversation in each run.
    private struct Values {
        var rule: TraceRules.Place
        var isHex: Bool
        var texts: [String]
    }

    /// What differs between runs.
    private struct Seen {
        var values: [Occurrence: Values] = [:]
        /// The properties of connections.
        var properties: Set<String> = []
    }

    /// How often runs are aligned anew: with more values masked, frames may be paired better. What frames that are no longer paired
    /// taught is forgotten in the first rounds; in the others it is kept, so that learning ends.
    private static let rounds = (afresh: 3, all: 6)
    /// At most how many templates a place may have, and how many lines report what is left.
    private static let most = (templates: 256, remaining: 20)

    /// The rules under which the runs are the same, as far as masks and bindings can achieve that.
    ///
    /// - Parameter comparison: what is compared; its rules are part of the result.
    package static func rules(from runs: [RecordedTrace], _ comparison: Comparison = Comparison()) -> TraceRules {
        learn(from: runs, comparison).rules
    }

    /// Learns from the runs.
    package static func learn(from runs: [RecordedTrace], _ comparison: Comparison = Comparison()) -> Result {
        guard let first = runs.first, runs.count > 1 else { return Result(rules: comparison.rules) }
        var comparison = comparison
        var seen = Seen()
        var learned: Learned = [:]
        let given = comparison.rules
        var table = ContentTable(given)
        for round in 0..<rounds.all {
            let before = learned
            if round < rounds.afresh { seen = Seen() }
            for run in runs.dropFirst() {
                let difference = TraceComparison.compare(expected: first, actual: run, comparison)
                for conversation in difference.conversations {
                    collect(from: conversation, comparison.heartbeats, &table, into: &seen)
                }
            }
            learned = templates(of: seen.values)
            addLengths(of: first, to: &learned)
            if before == learned { break }
            comparison.rules = given
            comparison.rules.masks += masks(learned)
        }
        // If both sides close at once, which is first is chance.
        let chance = ["closed.by", "closed.reason"].filter(seen.properties.contains).compactMap { FieldPath($0) }
        // Only a value that is masked as a whole can be an echo.
        let free = Set(learned.filter { $0.value.allSatisfy(\.isWhole) }.keys)
        let bindings = EchoSearch.bindings(in: runs, among: free).filter { binding in
            holds(binding, in: runs, comparison)
        }
        var result = Result(rules: given)
        result.rules.masks += masks(learned)
        result.rules.bindings += bindings
        result.rules.ignored += chance.map { TraceRules.Place(path: $0) }
        comparison.rules = result.rules
        for run in runs.dropFirst() {
            let difference = TraceComparison.compare(expected: first, actual: run, comparison)
            result.share.add(difference.share)
            for line in remaining(in: difference) where !result.remaining.contains(line) {
                if result.remaining.count < most.remaining { result.remaining.append(line) }
            }
        }
        result.challenges = Challenges.lines(in: first)
        return result
    }

    private static func masks(_ learned: Learned) -> [TraceRules.Mask] {
        let masks = learned.flatMap { place, templates in
            templates.map { ("\(place) \($0.source)", TraceRules.Mask(place, template: $0)) }
        }
        return masks.sorted { $0.0 < $1.0 }.map(\.1)
    }

    // MARK: Values

    /// Notes what differs between frames that were paired, whether it is masked by now or not.
    ///
    /// - Parameter table: compares under the given rules only.
    private static func collect(
        from conversation: ConversationDifference, _ heartbeats: Comparison.Heartbeats, _ table: inout ContentTable,
        into seen: inout Seen
    ) {
        guard let expected = conversation.expected, let actual = conversation.actual else { return }
        func note(_ change: FieldChange, _ old: FrameEvent, _ new: FrameEvent, _ place: Int) {
            guard let path = FieldPath(change.path),
                path.steps.first == .member("fields") || path.steps.first == .member("body"),
                let left = old.value(at: path.steps), let right = new.value(at: path.steps)
            else { return }
            // A value at one place of a list may occur at any.
            let steps = path.steps.map { if case .element = $0 { FieldPath.Step.any } else { $0 } }
            let rule = TraceRules.Place(from: old.from, type: old.type, path: FieldPath(steps))
            switch (left, right) {
            case (.text(let one), .text(let two)), (.number(let one), .number(let two)):
                let occurrence = Occurrence(connection: expected.number, place: place, path: change.path)
                let isHex = path.steps == [.member("body"), .member("hex")]
                var known = seen.values[occurrence] ?? Values(rule: rule, isHex: isHex, texts: [one])
                for text in [one, two] where !known.texts.contains(text) { known.texts.append(text) }
                seen.values[occurrence] = known
            // Like an ordinary word, a boolean is not masked: it says something.
            default: return
            }
        }
        seen.properties.formUnion(conversation.changes.map(\.path))
        let entries = (table.enter(conversation.expectedItems), table.enter(conversation.actualItems))
        for row in conversation.rows {
            guard let pair = row.pair else { continue }
            let (left, right) = (entries.0[pair.expected].content, entries.1[pair.actual].content)
            guard left != right, let old = conversation.expectedItems[pair.expected].frame,
                let new = conversation.actualItems[pair.actual].frame
            else { continue }
            for change in table.changes(left, right) { note(change, old, new, pair.expected) }
        }
        guard heartbeats == .count else { return }
        for (number, beats) in HeartbeatFolding.compare(expected, actual, &table).enumerated() {
            for change in beats.changes {
                guard let old = beats.expectedFrame, let new = beats.actualFrame else { continue }
                note(change, old, new, -1 - number)
            }
        }
    }

    private static func templates(of values: [Occurrence: Values]) -> Learned {
        var learned: Learned = [:]
        let ordered = values.sorted {
            ($0.key.connection, $0.key.place, $0.key.path) < ($1.key.connection, $1.key.place, $1.key.path)
        }
        for (_, values) in ordered {
            guard
                let template = values.isHex
                    ? TemplateLearning.template(ofHex: values.texts) : TemplateLearning.template(of: values.texts)
            else { continue }
            var known = learned[values.rule] ?? []
            if let place = known.firstIndex(where: { $0.merged(with: template) != nil }),
                let merged = known[place].merged(with: template)
            {
                known[place] = merged
            } else if known.count < most.templates {
                known.append(template)
            }
            learned[values.rule] = known
        }
        return learned
    }

    /// If a body's length may change, so may the fields that state it: those that equal it, or differ from it by a constant, in
    /// all frames of a kind.
    private static func addLengths(of run: RecordedTrace, to learned: inout Learned) {
        let places = learned.filter {
            $0.key.path.steps.first == .member("body") && $0.value.contains(where: \.isElastic)
        }.keys
        for kind in Set(places.map { TraceRules.Place(from: $0.from, type: $0.type, path: FieldPath([.any])) }) {
            var offsets: [String: Set<Int>] = [:]
            var lengths: Set<Int> = []
            for frame in run.frames where frame.from == kind.from && frame.type == kind.type {
                guard let length = frame.body["length"]?.integer, case .object(let members) = frame.fields else {
                    continue
                }
                lengths.insert(length)
                for member in members {
                    guard let value = member.value.integer ?? member.value.string.flatMap({ Int($0) }) else { continue }
                    // A value that is too far off is no length.
                    let (offset, isTooFar) = value.subtractingReportingOverflow(length)
                    offsets[member.name, default: []].insert(isTooFar ? .min : offset)
                }
            }
            for (name, known) in offsets {
                guard known.count == 1, let offset = known.first,
                    offset == 0 || lengths.count > 1 && (0...64).contains(offset)
                else { continue }
                let place = TraceRules.Place(
                    from: kind.from, type: kind.type, path: FieldPath([.member("fields"), .member(name)]))
                learned[place] = [TextTemplate(parts: [.any(Placeholder(.number, 1, 8))])]
            }
        }
    }

    // MARK: What is left

    private static func remaining(in difference: TraceDifference) -> [String] {
        var lines: [String] = []
        // The frames that are in another order, as rules name them.
        var moved: Set<String> = []
        for conversation in difference.conversations where !conversation.isEmpty {
            let number = conversation.expected?.number ?? conversation.actual?.number ?? 0
            for row in conversation.rows {
                if case .moved(let place, _) = row, case .frame(let frame) = conversation.expectedItems[place] {
                    moved.insert(RulesYAML.item(TraceRules.Frames(from: frame.from, type: frame.type)))
                }
                guard case .changed(let place, _, let changes) = row else { continue }
                let item = conversation.expectedItems[place]
                for change in changes {
                    let (old, new) = (change.old?.compactText ?? "nothing", change.new?.compactText ?? "nothing")
                    lines.append(
                        "connection \(number), frame \(place + 1) of the \(item.from.sender): \(change.path) is \(old.prefix(60)) or \(new.prefix(60))"
                    )
                }
            }
        }
        let others = difference.counts.filter { $0.kind != "changed" }
        lines += others.map { "\($0.count) \($0.kind)" }
        lines += moved.sorted().map {
            "the order of frames; if it does not matter, add to the rules: unordered: [\($0)]"
        }
        return lines.map { PrintableText.of($0) }
    }

    /// Whether the runs are as equal with a binding as without.
    private static func holds(
        _ binding: TraceRules.Binding, in runs: [RecordedTrace], _ comparison: Comparison
    ) -> Bool {
        var comparison = comparison
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

extension FrameEvent {
    /// The value at a path; nil if there is none.
    func value(at steps: [FieldPath.Step]) -> JSONValue? {
        var value = JSONValue.object([.init("body", body), .init("fields", fields)])
        for step in steps {
            switch (value, step) {
            case (.object, .member(let name)):
                guard let next = value[name] else { return nil }
                value = next
            case (.array(let elements), .element(let index)) where elements.indices.contains(index):
                value = elements[index]
            default: return nil
            }
        }
        return value
    }
}
