/// One call of a `StreamReceiver` or `ConnectionReceiver` as an owned value, for queues and tests.
package enum StreamEvent: Hashable, Sendable {
    /// `StreamReceiver.open`.
    case opened(Opening)
    /// `ConnectionReceiver.received`.
    case received(connection: Int, from: Direction, bytes: [UInt8], time: Timestamp, packet: Int)
    /// `ConnectionReceiver.missing`.
    case missing(connection: Int, from: Direction, byteCount: Int, time: Timestamp)
    /// `ConnectionReceiver.noticed`.
    case noticed(connection: Int, from: Direction, notice: StreamNotice, time: Timestamp, packet: Int)
    /// `ConnectionReceiver.finished`.
    case finished(connection: Int, from: Direction, ending: Ending, time: Timestamp)
    /// `ConnectionReceiver.closed`.
    case closed(connection: Int, Closing)
}

/// A receiver that keeps every event, in order.
package final class StreamEventLog: StreamReceiver, ReceiverSource {
    /// The events, in order.
    package private(set) var events: [StreamEvent] = []
    /// The latest time reported.
    package private(set) var time = Timestamp(nanoseconds: .min)

    /// An empty log.
    package init() {}

    /// Logs the opening.
    package func open(_ opening: Opening) -> any ConnectionReceiver {
        events.append(.opened(opening))
        return Connection(log: self, number: opening.number)
    }

    /// Keeps the time.
    package func advance(to time: Timestamp) {
        self.time = time
    }

    /// The bytes that arrived in one direction of a connection, joined; gaps left out.
    package func bytes(of connection: Int, from direction: Direction) -> [UInt8] {
        events.reduce(into: []) { joined, event in
            if case .received(connection, direction, let bytes, _, _) = event { joined += bytes }
        }
    }

    package var isShared: Bool { true }

    /// A connection that was packed.
    package func receiver(from numbers: inout PackedNumbers) -> any ConnectionReceiver {
        var number = 0
        numbers.pass(&number)
        return Connection(log: self, number: number)
    }

    private final class Connection: ConnectionReceiver {
        let log: StreamEventLog
        let number: Int

        init(log: StreamEventLog, number: Int) {
            self.log = log
            self.number = number
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            log.events.append(
                .received(connection: number, from: direction, bytes: bytes.copied(), time: time, packet: packet))
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            log.events.append(.missing(connection: number, from: direction, byteCount: byteCount, time: time))
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            log.events.append(
                .noticed(connection: number, from: direction, notice: notice, time: time, packet: packet))
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            log.events.append(.finished(connection: number, from: direction, ending: ending, time: time))
        }

        func closed(_ closing: Closing) {
            log.events.append(.closed(connection: number, closing))
        }

        func pack(into numbers: inout PackedNumbers) -> (any ReceiverSource)? {
            var number = number
            numbers.pass(&number)
            return log
        }
    }
}
