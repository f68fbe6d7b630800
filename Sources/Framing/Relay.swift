import Expressions
import Streams

/// Which frames a server passes on from one client to others, as a format says it.
public struct Relay: Sendable {
    /// What a client's frame is that is to be passed on; who it is from and for, `frame` says.
    public var sent: Expression
    /// What the server's frame is that passes it on.
    public var received: Expression
    /// By when it has to be there.
    public var within: Interval
    /// The value by which a message is known on both sides; nil: it is known by its body.
    public var id: ValuePlace?
}

/// Which frames a server sends to all of its clients, and how these say that they have them.
public struct Broadcast: Sendable {
    /// What the server's frame is.
    public var sent: Expression
    /// What the client's receipt is. Where its text ends with a time of day, `08:00:00.013`, that is when the client had it.
    public var receipt: Expression
    /// By when receipts have to be there.
    public var within: Interval
    /// Whether a receipt repeats the body of what it confirms.
    public var isEchoed = false
}
