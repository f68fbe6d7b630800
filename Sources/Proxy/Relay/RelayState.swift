import Streams

/// What a relay has to do when one of its two sides ends: pure state, without sockets.
///
/// A FIN is passed on as a half-close, and the other direction goes on. Anything else that ends a side (a reset, a write
/// that failed) resets the other one, as a reset would have without a proxy between them.
struct RelayState: Hashable, Sendable {
    /// What the relay's handlers are to do.
    enum Action: Hashable, Sendable {
        /// Note that a direction ended.
        case record(Ending, Direction)
        /// Send FIN to the receiver of a direction, behind what is still to be written.
        case passOnEnd(of: Direction)
        /// Reset the connection to the receiver of a direction, behind what is still to be written.
        case reset(receiverOf: Direction)
        /// Note that nothing was said for too long.
        case recordExpiry
        /// Reset both connections, whatever is still to be written.
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

    /// Nothing was said for longer than is allowed. What has ended already, but lingers, is only cut off.
    mutating func expire() -> [Action] {
        defer { isOver = true }
        return isOver ? [.cutOff] : [.recordExpiry, .cutOff]
    }

    /// The proxy itself closes the connection: neither side has ended it, and neither is to be told so.
    mutating func stop() {
        isOver = true
    }
}

extension RelayState {
    static func == (left: RelayState, right: RelayState) -> Bool {
        left.isOver == right.isOver && left.finished == right.finished
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(isOver)
    }
}
