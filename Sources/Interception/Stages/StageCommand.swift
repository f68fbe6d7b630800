import Streams

/// What the control API asks of the stages of a connection that is already being relayed.
public enum StageCommand: Hashable, Sendable {
    /// From now on, these rules apply to all bytes, instead of those that did.
    case setLine([LineRule])
    /// This frame passes in a direction, as soon as the next byte of it would begin a frame.
    case inject([UInt8], Direction)
}

/// A rule for all bytes of a connection.
public struct LineRule: Hashable, Sendable {
    /// Its name in traces.
    public var name: String
    /// What it does.
    public var action: LinkAction
    /// The side whose bytes it applies to; nil: both.
    public var from: Direction?

    /// A rule.
    public init(name: String, action: LinkAction, from: Direction?) {
        (self.name, self.action, self.from) = (name, action, from)
    }

    var rule: Rule { Rule(name: name, action: .link(action), from: from) }
}
