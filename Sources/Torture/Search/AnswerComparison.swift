import Framing
import Streams
import Trace
import TraceDiff

/// The answers of a baseline beside those of the recording. Segmentations are compared with the baseline: a server that answers
/// everything with an error would pass.
enum AnswerComparison {
    /// How they differ, with the first difference in words.
    enum Difference {
        /// No answer is of a type that the recording has.
        case nothingAlike(String)
        /// Some answers are of other types, or say something else.
        case different(String)
    }

    /// How the answers of a run differ from the recording; nil if they are the same, or if some are only missing.
    ///
    /// - Parameter judge: what is compared in them.
    static func compare(_ items: [[RecordedItem]], _ judge: Judge) -> Difference? {
        let recorded = judge.script.connections.map { connection in
            Array(connection.items).filter { $0.from == .fromServer }
        }
        let rules = judge.comparison.rules
        let (old, new) = (recorded.map { answers(in: $0, rules) }, items.map { answers(in: $0, rules) })
        let (wanted, got) = (counts(of: old), counts(of: new))
        // In which order they come may be chance.
        guard got.contains(where: { $0.value > wanted[$0.key, default: 0] }) else {
            return content(recorded, items, judge).map { .different($0) }
        }
        let isAlike = got.contains { wanted[$0.key, default: 0] > 0 }
        for (connection, pair) in zip(judge.script.connections, zip(old, new)) {
            guard var text = firstOtherType(pair.0, pair.1) else { continue }
            if judge.script.connections.count > 1 { text += " (connection \(connection.number))" }
            return isAlike ? .different(text) : .nothingAlike(text)
        }
        return nil
    }

    private static func answers(in items: [RecordedItem], _ rules: TraceRules) -> [FrameEvent] {
        items.compactMap(\.frame).filter { !$0.isHeartbeat && !rules.ignoresFrame($0.from, $0.type) }
    }

    /// How many answers there are of each type.
    private static func counts(of answers: [[FrameEvent]]) -> [String?: Int] {
        Dictionary(answers.joined().map { ($0.type, 1) }, uniquingKeysWith: +)
    }

    private static func firstOtherType(_ old: [FrameEvent], _ new: [FrameEvent]) -> String? {
        for (place, answer) in new.enumerated() {
            let expected = place < old.count ? old[place] : nil
            if let expected, expected.type == answer.type { continue }
            let wanted = expected.map { name($0.type) } ?? "there is none"
            return "answer \(answer.index) is \(name(answer.type)), in the recording \(wanted)"
        }
        return nil
    }

    private static func name(_ type: String?) -> String {
        type.map { "`\(PrintableText.of($0, columns: 60))`" } ?? "one without a type"
    }

    /// The first answer with another content, in words.
    private static func content(_ old: [[RecordedItem]], _ new: [[RecordedItem]], _ judge: Judge) -> String? {
        var comparison = judge.comparison
        comparison.heartbeats = .ignore
        comparison.rules.masks += masks(overHiddenIn: old)
        let difference = TraceComparison.compare(
            expected: Judge.trace(of: old, judge.script), actual: Judge.trace(of: new, judge.script), comparison)
        for conversation in difference.conversations {
            for row in conversation.rows {
                var single = conversation
                single.rows = [row]
                switch row {
                case .changed, .added:
                    if let text = judge.first(in: single) { return text }
                // Missing ones are counted by the play.
                case .same, .removed, .moved, .crossed: continue
                }
            }
        }
        return nil
    }

    /// What the recording hides may be anything.
    private static func masks(overHiddenIn items: [[RecordedItem]]) -> [TraceRules.Mask] {
        let body = FieldPath([.member("body")])
        let text = FieldPath([.member("body"), .member("text")])
        let places = items.joined().compactMap(\.frame).flatMap { frame -> [TraceRules.Place] in
            let hidden = frame.leafValues.filter { $0.value == .text(JSONRedaction.mark) }.map(\.path)
            // A body that is hidden whole is text, whatever its form was.
            return hidden.map { TraceRules.Place(from: frame.from, type: frame.type, path: $0 == text ? body : $0) }
        }
        return Set(places).map { TraceRules.Mask($0) }
    }
}
