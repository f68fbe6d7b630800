import Framing
import HeapModule
import Streams

/// The frames under way that end when their sender pauses (`FramingRule.idle`), by when that will be.
struct PausedFrames {
    /// One entry for each direction with such a frame. Bytes that put its end off leave the entry: it follows when it
    /// comes up.
    private var ends = Heap<End>()
    private var longestIdle = Interval(nanoseconds: 0)

    private struct End: Comparable {
        let time: Timestamp
        let connection: ConnectionDecoder
        let direction: Direction

        static func < (left: End, right: End) -> Bool {
            (left.time, left.connection.number, left.direction.rawValue)
                < (right.time, right.connection.number, right.direction.rawValue)
        }

        static func == (left: End, right: End) -> Bool {
            left.time == right.time && left.connection === right.connection && left.direction == right.direction
        }
    }

    /// When the next frame may end.
    var next: Timestamp? { ends.min?.time }

    /// Up to when all frames are known; nil where none is under way. Analyses must not go beyond: a heartbeat that waits for
    /// its end has already been seen.
    var horizon: Timestamp? {
        ends.min.map { $0.time + Interval(nanoseconds: -longestIdle.nanoseconds) }
    }

    /// Takes a direction with a frame under way.
    mutating func insert(_ connection: ConnectionDecoder, _ direction: Direction, until time: Timestamp, idle: Interval) {
        longestIdle = max(longestIdle, idle)
        ends.insert(End(time: time, connection: connection, direction: direction))
    }

    /// Removes a direction whose frame may have ended before `time`.
    mutating func popFirst(before time: Timestamp) -> (ConnectionDecoder, Direction)? {
        guard let first = ends.min, first.time < time else { return nil }
        ends.removeMin()
        return (first.connection, first.direction)
    }
}
