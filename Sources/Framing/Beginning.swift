import Expressions
import Streams

/// The frame that a system's conversations begin with. A stream without such a frame is another program's: the format's rules for
/// heartbeats, requests and broadcasts do not apply to it.
package struct Beginning: Sendable {
    /// What the frame is.
    package var condition: Expression
    /// Its sender.
    package var from: Direction

    /// The frame that a system's conversations begin with.
    package init(condition: Expression, from: Direction) {
        self.condition = condition
        self.from = from
    }
}
