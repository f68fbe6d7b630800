import Expressions
import Streams

/// Which frames a server relays from one client to others.
public struct Relay: Sendable {
    /// Selects a client's frames that must be relayed; `frame` defines their source and target.
    public var sent: Expression
    /// Selects the server's frames that relay them.
    public var received: Expression
    /// The deadline for it.
    public var within: Interval
    /// The value that identifies a message on both sides; nil: its body does.
    public var id: ValuePlace?
}

/// Which frames a server broadcasts to all of its clients, and how the clients confirm them.
public struct Broadcast: Sendable {
    /// What the server's frame is.
    public var sent: Expression
    /// What the client's receipt is. If its text ends with a time of day, `08:00:00.013`, that is when the client received the
    /// frame.
    public var receipt: Expression
    /// The deadline for receipts.
    public var within: Interval
    /// Whether a receipt repeats the body of the frame it confirms.
    public var isEchoed = false
}
