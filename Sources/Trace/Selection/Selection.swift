import Expressions
import Framing
import Streams

/// Which part of a trace is wanted.
package struct Selection: Sendable {
    /// What a frame must fulfil; nil for any frame.
    package var condition: Expression?
    /// Bytes that a frame, or its decoded body, must contain; nil for any frame.
    package var contained: [UInt8]?
    /// The connections by number; empty for all.
    package var connections: Set<Int> = []
    /// The legs of connections whose bytes a proxy may have changed; nil: those that a sink shows unless asked.
    package var legs: Set<Leg>?
    /// The earliest time of an event.
    package var since: Timestamp?
    /// The time from which on events are excluded.
    package var until: Timestamp?
    /// At most how many frames.
    package var frames: Int?

    /// Everything.
    package init() {}

    /// Whether nothing is excluded.
    package var isEverything: Bool {
        condition == nil && contained == nil && connections.isEmpty && legs == nil && since == nil && until == nil
            && frames == nil
    }

    func includes(_ connection: TracedConnection) -> Bool {
        if let legs, let leg = connection.leg, !legs.contains(leg) { return false }
        return includes(connection.number)
    }

    func includes(_ connection: Int) -> Bool { connections.isEmpty || connections.contains(connection) }

    func includes(_ time: Timestamp) -> Bool {
        if let since, time < since { return false }
        if let until, time >= until { return false }
        return true
    }
}
