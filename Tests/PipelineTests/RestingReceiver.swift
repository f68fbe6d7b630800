import Streams

/// Asks the receivers of another to become dormant after each event.
final class RestingReceiver: StreamReceiver {
    private let receiver: any StreamReceiver
    /// How often one was dormant when something happened to its connection.
    private(set) var rests = 0
    /// Whether a connection has two legs: those never rest.
    private(set) var hasLegs = false

    init(_ receiver: any StreamReceiver) { self.receiver = receiver }

    func open(_ opening: Opening) -> any ConnectionReceiver {
        if opening.leg != nil { hasLegs = true }
        return Connection(receiver.open(opening), self)
    }

    func advance(to time: Timestamp) { receiver.advance(to: time) }

    func learned(keyLog: RawSpan) { receiver.learned(keyLog: keyLog) }

    private final class Connection: ConnectionReceiver {
        private var receiver: any ConnectionReceiver
        private let owner: RestingReceiver

        init(_ receiver: any ConnectionReceiver, _ owner: RestingReceiver) {
            (self.receiver, self.owner) = (receiver, owner)
            rest()
        }

        private func rest() {
            guard let dormant = receiver.dormant() else { return }
            receiver = dormant
            owner.rests += 1
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            receiver.received(bytes, from: direction, at: time, packet: packet)
            rest()
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            receiver.missing(byteCount, from: direction, at: time)
            rest()
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            receiver.noticed(notice, from: direction, at: time, packet: packet)
            rest()
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            receiver.finished(ending, from: direction, at: time)
            rest()
        }

        func closed(_ closing: Closing) { receiver.closed(closing) }
    }
}
