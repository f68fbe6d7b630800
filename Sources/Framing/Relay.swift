import Expressions
import Streams

/// Which frames a server relays from one client to others.
package struct Relay: Sendable {
    /// Selects a client's frames that must be relayed; `frame` defines their source and target.
    package var sent: Expression
    /// Selects the server's frames that relay them.
    package var received: Expression
    /// The deadline for it.
    package var within: Interval
    /// The value that identifies a message on both sides; nil: its body does.
    package var id: ValuePlace?
}

/// Which frames a server broadcasts to all of its clients, and how the clients confirm them.
package struct Broadcast: Sendable {
    /// What the server's frame is.
    package var sent: Expression
    /// What the client's receipt is. If its text ends with a time of day, `08:00:00.013`, that is when the client received the
    /// frame.
    package var receipt: Expression
    /// The deadline for receipts.
    package var within: Interval
    /// Whether a receipt repeats the body of the frame it confirms.
    package var isEchoed = false
}
