import Framing
import Streams
import Trace

/// Compares the pauses before the frames of two conversations.
///
/// A pause begins with the preceding frame that both sides have, or with the opening of the connection: so a late frame does not
/// make all following ones late.
struct PauseComparison {
    private var changes: [Int: FieldChange] = [:]

    /// Compares pauses if the comparison includes them.
    init(
        _ expected: RecordedConnection, _ old: RecordedItems, _ actual: RecordedConnection, _ new: RecordedItems,
        _ pairs: [ConversationAlignment.Pair], _ comparison: Comparison
    ) {
        guard comparison.aspects.contains(.times) else { return }
        var before = (expected.opened, actual.opened)
        for (index, pair) in pairs.enumerated() {
            let times = (old.time(at: pair.old), new.time(at: pair.new))
            let pauses = (times.0 - before.0, times.1 - before.1)
            if !comparison.tolerance.allows(pauses.1, for: pauses.0) {
                changes[index] = FieldChange(path: "pause", old: .text(pauses.0.text()), new: .text(pauses.1.text()))
            }
            before = times
        }
    }

    /// What differs in the pause before a pair, by its place among the pairs.
    func change(at index: Int) -> FieldChange? { changes[index] }
}
