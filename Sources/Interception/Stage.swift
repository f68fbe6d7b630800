import Streams

/// One step of what is done to the bytes of a relayed connection on their way: a value without sockets and without a clock.
///
/// A stage takes events and returns actions; `StageChain` keeps what is emitted for later, and a driver performs what comes out at
/// the end. What a stage does not emit does not pass: one that changes nothing emits every chunk as it came, and passes each end on.
public protocol Stage: Sendable {
    /// How many bytes of each direction the stage itself keeps, those of a frame that is not complete for instance. What it emitted
    /// for later counts without that.
    var heldBytes: PerDirection<Int> { get }

    /// Takes an event of its connection.
    ///
    /// - Parameter now: the time, on a clock that never goes back.
    mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction]
}

extension Stage {
    /// Most keep nothing.
    public var heldBytes: PerDirection<Int> { PerDirection(fromClient: 0, fromServer: 0) }
}

/// What happens to a stage.
public enum StageEvent: Hashable, Sendable {
    /// The next bytes of a direction, which are not empty.
    case bytes([UInt8], Direction)
    /// A direction ended; no more bytes of it come.
    case end(Ending, Direction)
    /// The time is there that the stage asked for.
    case wake
    /// What the stage keeps of a direction has been held for too long: it is to be emitted now.
    case release(Direction)
}

/// What a stage wants done.
public enum StageAction: Hashable, Sendable {
    /// Pass bytes on at a time, or at once where that has passed. They come behind what was emitted before in their direction, however
    /// late that is due, unless they overtake it.
    case emit([UInt8], Direction, at: Timestamp, overtakes: Bool = false, cause: String? = nil)
    /// Pass an end on behind everything that was emitted in its direction.
    case end(Ending, Direction)
    /// Send `StageEvent.wake` at a time; a later wish replaces an earlier one.
    case wake(at: Timestamp)
    /// Read nothing more of a direction.
    case pause(Direction)
    /// Read on.
    case resume(Direction)
}
