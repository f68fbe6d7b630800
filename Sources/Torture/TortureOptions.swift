import Framing
import Streams
import TraceDiff

/// How a conversation is tortured.
package struct TortureOptions: Sendable {
    package var format: Format
    /// What is compared in the answers, beyond what two baseline runs show to be chance.
    package var comparison: Comparison
    /// Decides random cuts.
    package var seed: UInt64
    /// An answer is awaited for at least this long; for longer if the slowest one of the baseline took more than a twentieth of it.
    package var patience = Interval.milliseconds(200)
    /// At most how many runs are played at once.
    package var parallel = 16

    package init(_ format: Format, _ comparison: Comparison, seed: UInt64) {
        (self.format, self.comparison, self.seed) = (format, comparison, seed)
    }
}

/// Why torture cannot begin.
package struct TortureError: Error, Hashable, CustomStringConvertible {
    /// The problem, and what was expected.
    package var description: String

    init(_ description: String) { self.description = description }
}
