import Streams

/// Decides what a relay does when one of its two sides ends: pure state, without sockets.
///
/// A FIN is passed on as a half-close, and the other direction continues. Anything else that ends a side (a reset, a failed
/// write) resets the other one, as a reset would have without a proxy between them.
struct RelayState: Hashable, Sendable {
    /// The actions of the relay's handlers.
    enum Action: Hashable, Sendable {
        /// Record that a direction ended.
        case record(Ending, Direction)
        /// Send FIN to the receiver of a direction, after all pending writes.
        case passOnEnd(of: Direction)
        /// Reset the connection to the receiver of a direction, after all pending writes.
        case reset(receiverOf: Direction)
        /// Record that the idle timeout expired.
        case recordExpiry
        /// Reset both connections, whatever is still pending.
        case cutOff
    }

    private var finished = PerDirection(fromClient: false, fromServer: false)
    private(set) var isOver = false

    /// The sender of a direction closed its side.
    mutating func finish(_ direction: Direction) -> [Action] {
        guard !isOver, !finished[direction] else { return [] }
        finished[direction] = true
        isOver = finished[direction.opposite]
        return [.record(.fin, direction), .passOnEnd(of: direction)]
    }

    /// The connection to the sender of a direction is gone.
    mutating func lose(_ direction: Direction) -> [Action] {
        guard !isOver else { return [] }
        isOver = true
        return [.record(.reset, direction), .reset(receiverOf: direction)]
    }

    /// The idle timeout expired. A connection that has already ended but lingers is just cut off.
    mutating func expire() -> [Action] {
        defer { isOver = true }
        return isOver ? [.cutOff] : [.recordExpiry, .cutOff]
    }

    /// The proxy itself closes the connection: neither side has ended it, and neither must see a clean end.
    mutating func stop() {
        isOver = true
    }
}
