import Expressions
import Streams

/// What the conversations of a system begin with. In a stream without such a frame, another program talks: what the format promises of
/// heartbeats, requests and broadcasts does not hold.
public struct Beginning: Sendable {
    /// What the frame is.
    public var condition: Expression
    /// Who sends it.
    public var from: Direction

    /// What the conversations of a system begin with.
    public init(condition: Expression, from: Direction) {
        self.condition = condition
        self.from = from
    }
}
