import Packets
import Streams

/// Packs the receivers of another after each event, if they can be, and unpacks them for the next.
final class RestingReceiver: StreamReceiver {
    private let receiver: any StreamReceiver
    /// Asked after each event.
    private let mayRest: () -> Bool
    /// How often one was packed.
    private(set) var rests = 0
    /// Whether a connection has two legs: those are never packed.
    private(set) var hasLegs = false

    init(_ receiver: any StreamReceiver, mayRest: @escaping () -> Bool = { true }) {
        (self.receiver, self.mayRest) = (receiver, mayRest)
    }

    func open(_ opening: Opening) -> any ConnectionReceiver {
        if opening.leg != nil { hasLegs = true }
        return Connection(receiver.open(opening), self, opening.time)
    }

    func advance(to time: Timestamp) { receiver.advance(to: time) }

    func learned(keyLog: RawSpan) { receiver.learned(keyLog: keyLog) }

    private final class Connection: ConnectionReceiver {
        /// Nil while it is packed.
        private var receiver: (any ConnectionReceiver)?
        private var places = ConnectionPlaces()
        private let owner: RestingReceiver
        private let start: Timestamp

        init(_ receiver: any ConnectionReceiver, _ owner: RestingReceiver, _ start: Timestamp) {
            (self.receiver, self.owner, self.start) = (receiver, owner, start)
            _ = places.add(0)
            rest()
        }

        private func rest() {
            var numbers = places.packing(near: start)
            guard owner.mayRest(), let source = receiver?.pack(into: &numbers) else { return }
            places.pack(0, numbers, source)
            receiver = nil
            owner.rests += 1
        }

        private func awake() -> any ConnectionReceiver {
            if let receiver { return receiver }
            guard case (_, var numbers, let source)? = places.unpack(0) else { preconditionFailure("not packed") }
            let receiver = source.receiver(from: &numbers)
            self.receiver = receiver
            return receiver
        }

        /// Passes on an event; then it may rest.
        private func pass(_ event: (any ConnectionReceiver) -> Void) {
            event(awake())
            rest()
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            awake().received(bytes, from: direction, at: time, packet: packet)
            rest()
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            pass { $0.missing(byteCount, from: direction, at: time) }
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            pass { $0.noticed(notice, from: direction, at: time, packet: packet) }
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            pass { $0.finished(ending, from: direction, at: time) }
        }

        func closed(_ closing: Closing) { awake().closed(closing) }
    }
}
