import Streams

extension RecordingQueue {
    /// What the queue knows a connection, or a leg of one, by.
    package struct Handle: Hashable, Comparable, Sendable {
        /// Its number; negative for what is passed on.
        package let number: Int
        let place: Int

        /// By number; what was received comes before what was passed on.
        package static func < (left: Handle, right: Handle) -> Bool {
            (abs(left.number), -left.number) < (abs(right.number), -right.number)
        }
    }

    /// A connection, or one of its legs, whose end the recorder has not been notified of.
    struct Recorded {
        /// The number of its handle; 0: there is no connection at this place.
        var handle = 0
        var client: Endpoint
        var server: Endpoint
        /// What is known about its TLS.
        var tls: TLSFacts? {
            get { keptTLS?.first }
            set { keptTLS = newValue.map { [$0] } }
        }
        // Most have none, and there is room for it in each.
        private var keptTLS: [TLSFacts]?
        var leg: Leg?
        /// The leg on which it is passed on, if that is recorded, too.
        var passedOn: Handle?
        /// Its number in the trace; nil while the recorder has not been notified of it.
        var number: ConnectionLeg?
        var dropped = PerDirection(fromClient: Loss(), fromServer: Loss())
        /// Whether it has lost anything so far.
        var isIncomplete = false
        /// Whether each direction is held, and which state the recorder was notified of.
        var isHeld = PerDirection(fromClient: false, fromServer: false)
        var isReportedHeld = PerDirection(fromClient: false, fromServer: false)
        /// The secrets that became known before the recorder was notified of it.
        var secrets: [UInt8]?
        /// The ends that followed dropped data.
        var endings: [End] {
            get { keptEndings ?? [] }
            set { keptEndings = newValue.isEmpty ? nil : newValue }
        }
        // What is rare takes no room in each.
        private var keptEndings: [End]?
        private var finished = PerDirection(fromClient: false, fromServer: false)
        private(set) var isOver = false

        enum End {
            case finished(Direction, Ending)
            case ended(CloseReason, by: Direction?)
        }

        init(client: Endpoint, server: Endpoint, tls: TLSFacts?, leg: Leg?) {
            (self.client, self.server, self.leg) = (client, server, leg)
            self.tls = tls
        }

        /// What is at a place without a connection.
        static var vacant: Recorded {
            let nowhere = Endpoint(IPAddress(v4: 0), 0)
            return Recorded(client: nowhere, server: nowhere, tls: nil, leg: nil)
        }

        mutating func end(_ end: End) {
            switch end {
            case .finished(let direction, .fin):
                finished[direction] = true
                isOver = finished.fromClient && finished.fromServer
            case .finished(_, .reset), .ended: isOver = true
            }
        }
    }
}
