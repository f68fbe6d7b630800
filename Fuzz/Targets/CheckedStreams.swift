import Streams

/// A log of streams that keeps them to their contract: in order, each opened once and closed once, nothing after that.
final class CheckedStreams: StreamReceiver {
    private(set) var events: [StreamEvent] = []
    private var open: Set<Int> = []
    private(set) var openedCount = 0

    func open(_ opening: Opening) -> any ConnectionReceiver {
        openedCount += 1
        expect(opening.number == openedCount, "connection \(opening.number) is the \(openedCount)th")
        open.insert(opening.number)
        events.append(.opened(opening))
        return Connection(log: self, number: opening.number)
    }

    func advance(to time: Timestamp) {}

    func expectAllClosed() {
        expect(open.isEmpty, "connections \(open) were never closed")
    }

    private final class Connection: ConnectionReceiver {
        let log: CheckedStreams
        let number: Int
        private var isClosed = false
        private var ended = PerDirection(fromClient: false, fromServer: false)
        private var times = PerDirection(
            fromClient: Timestamp(nanoseconds: .min), fromServer: Timestamp(nanoseconds: .min))
        /// Where each stream is.
        private var offsets = PerDirection(fromClient: 0, fromServer: 0)

        init(log: CheckedStreams, number: Int) {
            self.log = log
            self.number = number
        }

        private func add(_ event: StreamEvent) {
            expect(!isClosed, "\(event) after the end")
            log.events.append(event)
        }

        private func move(_ count: Int, _ direction: Direction, _ time: Timestamp) {
            expect(count > 0, "nothing was received, or is missing")
            expect(!ended[direction], "bytes after the end of a direction")
            expect(time >= times[direction], "time goes back")
            times[direction] = time
            offsets[direction] += count
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            move(bytes.byteCount, direction, time)
            add(.received(connection: number, from: direction, bytes: bytes.copied(), time: time, packet: packet))
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            move(byteCount, direction, time)
            add(.missing(connection: number, from: direction, byteCount: byteCount, time: time))
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            if case .conflict(let offset, let kept, let other) = notice {
                expect(offset >= 0 && kept.count == other.count && kept != other, "\(notice)")
            }
            add(.noticed(connection: number, from: direction, notice: notice, time: time, packet: packet))
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            expect(!ended[direction], "a direction ended twice")
            ended[direction] = true
            add(.finished(connection: number, from: direction, ending: ending, time: time))
        }

        func closed(_ closing: Closing) {
            add(.closed(connection: number, closing))
            isClosed = true
            log.open.remove(number)
        }
    }
}
