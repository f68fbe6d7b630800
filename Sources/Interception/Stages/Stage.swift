import Streams

/// One step of processing the bytes of a relayed connection on their way: a value without sockets and without a clock.
///
/// A stage takes events and returns actions; `StageChain` keeps data emitted for later, and a driver performs the resulting
/// actions. Data that a stage does not emit does not pass: a stage that changes nothing emits every chunk as it arrived, and
/// passes each end on.
package protocol Stage {
    /// How many bytes of each direction the stage itself keeps, such as those of an incomplete frame. Bytes that it emitted for
    /// later do not count.
    var heldBytes: PerDirection<Int> { get }

    /// Since when the oldest of these bytes has been kept, if the stage knows; nil if it does not.
    var heldSince: PerDirection<Timestamp?>? { get }

    /// Whether these bytes must be emitted when they have been kept for too long.
    var releases: Bool { get }

    /// Takes an event of its connection.
    ///
    /// - Parameter now: the time, on a clock that never goes backwards.
    mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction]

    /// Takes the next bytes of a direction, as `take` does.
    ///
    /// - Returns: nil if nothing is done but to pass them on now, as they are, and the stage keeps nothing of the direction: most
    ///   bytes pass like that, and then nothing has to be copied.
    mutating func pass(_ bytes: RawSpan, _ direction: Direction, at now: Timestamp) -> [StageAction]?
}

extension Stage {
    /// Most stages keep nothing.
    package var heldBytes: PerDirection<Int> { PerDirection(fromClient: 0, fromServer: 0) }

    /// Most stages do not know: it is since when they have kept any.
    package var heldSince: PerDirection<Timestamp?>? { nil }

    /// Most stages emit what they have kept for too long.
    package var releases: Bool { true }

    /// Most stages do something to most bytes.
    package mutating func pass(_ bytes: RawSpan, _ direction: Direction, at now: Timestamp) -> [StageAction]? {
        take(.bytes(bytes.copied(), direction), at: now)
    }
}

/// An event for a stage.
package enum StageEvent: Hashable, Sendable {
    /// The connection is relayed from now on: the first event.
    case began
    /// The next bytes of a direction, never empty.
    case bytes([UInt8], Direction)
    /// A direction ended; no more bytes of it follow.
    case end(Ending, Direction)
    /// The time that the stage asked for has come.
    case wake
    /// The bytes that the stage keeps of a direction have been held for too long: it must emit them now.
    case release(Direction)
    /// The control API asks for something.
    case command(StageCommand)
}

/// An action that a stage asks for.
package enum StageAction: Hashable, Sendable {
    /// Pass bytes on at a time, or immediately if that has passed. They follow everything emitted before in their direction,
    /// however late that is due, unless they overtake it.
    case emit([UInt8], Direction, at: Timestamp, overtakes: Bool = false, cause: String? = nil)
    /// Pass an end on after everything that was emitted in its direction.
    case end(Ending, Direction)
    /// Reset both sides after everything that was emitted in a direction, however late that passes. What the other direction still
    /// holds then is lost.
    case resetBoth(after: Direction)
    /// Send `StageEvent.wake` at a time; a later request replaces an earlier one.
    case wake(at: Timestamp)
    /// Stop reading a direction.
    case pause(Direction)
    /// Continue reading.
    case resume(Direction)
    /// What was emitted last in this direction must be read before anything else of it is written, if that can be achieved.
    ///
    /// - Parameter report: reported with whether this and all earlier cuts without a report were proven.
    case cut(Direction, report: ActionReport? = nil)
    /// Report what was done.
    case report(ActionReport)
    /// Say what came of a decision.
    case decided(StageCommand.Outcome)
}
