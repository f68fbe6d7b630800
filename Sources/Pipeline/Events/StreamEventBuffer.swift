import Streams

/// Consecutive stream events of one or more connections, packed. Used to hold events in order to pass them on later, or to
/// another thread. The bytes of all chunks are in one buffer.
struct StreamEventBuffer: Sendable {
    /// One event; whatever does not fit is in `openings`, `closings`, `notices`, or, for bytes, in `bytes`.
    struct Event: Sendable {
        enum Kind: UInt8 {
            case opened, received, missing, noticed, finished, closed, advanced, learned
        }

        var kind: Kind
        var direction = Direction.fromClient
        /// The connection's index among those that are open; 0 if all events are of one connection.
        var slot: Int32 = 0
        var time = Timestamp(nanoseconds: 0)
        var packet = 0
        /// Whether time advances to the event's time before it happens.
        var advances = false
        /// The start of the bytes, or the index of the event's data; and the byte count.
        var place = 0
        var count = 0

        /// For an event of the kind `finished`: how the direction ended.
        var ending: Ending { count == 1 ? .reset : .fin }

        /// A direction ended.
        static func finished(_ ending: Ending, _ direction: Direction, _ slot: Int32, _ time: Timestamp) -> Event {
            Event(kind: .finished, direction: direction, slot: slot, time: time, count: ending == .reset ? 1 : 0)
        }

        /// Bytes of a direction were not seen.
        static func missing(_ byteCount: Int, _ direction: Direction, _ slot: Int32, _ time: Timestamp) -> Event {
            Event(kind: .missing, direction: direction, slot: slot, time: time, count: byteCount)
        }
    }

    var events: [Event] = []
    var bytes: [UInt8] = []
    var openings: [Opening] = []
    var closings: [Closing] = []
    var notices: [StreamNotice] = []

    /// Copies the next bytes of a direction; returns the event, which the caller appends.
    @inline(__always)
    mutating func receive(
        _ span: RawSpan, _ direction: Direction, _ slot: Int32, _ time: Timestamp, packet: Int
    ) -> Event {
        let place = bytes.count
        bytes.append(contentsOf: span)
        return Event(
            kind: .received, direction: direction, slot: slot, time: time, packet: packet, place: place,
            count: span.byteCount)
    }

    /// Keeps a notice; returns the event, which the caller appends.
    mutating func notice(
        _ notice: StreamNotice, _ direction: Direction, _ slot: Int32, _ time: Timestamp, packet: Int
    ) -> Event {
        notices.append(notice)
        return Event(
            kind: .noticed, direction: direction, slot: slot, time: time, packet: packet, place: notices.count - 1)
    }

    /// Keeps how a connection began; returns the event, which the caller appends.
    mutating func open(_ opening: Opening, _ slot: Int32) -> Event {
        openings.append(opening)
        return Event(kind: .opened, slot: slot, place: openings.count - 1)
    }

    /// Keeps how a connection ended; returns the event, which the caller appends.
    mutating func close(_ closing: Closing, _ slot: Int32) -> Event {
        closings.append(closing)
        return Event(kind: .closed, slot: slot, place: closings.count - 1)
    }

    /// Removes all events; small buffers are kept.
    mutating func removeAll(keepingBytes most: Int) {
        events.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: bytes.capacity <= most)
        openings.removeAll()
        closings.removeAll()
        notices.removeAll()
    }
}
