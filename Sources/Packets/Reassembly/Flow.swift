import Streams

/// One connection: what is known of both directions, and who takes its bytes.
struct Flow {
    /// Where a connection is in its life.
    enum State: UInt8 {
        /// Segments are passed on.
        case open
        /// `closed` was told; late segments are ignored.
        case closed
        /// The place is free for another connection.
        case free
    }

    /// Both ends.
    let key: FlowKey
    /// Counts from 1 in order of opening.
    let number: Int
    /// Takes the bytes; nil once closed.
    var receiver: (any ConnectionReceiver)?
    /// Both directions.
    var sides = PerDirection(fromClient: SendingSide(), fromServer: SendingSide())
    /// When the first valid RST was seen.
    var resetTime: Timestamp?
    /// How many packets it had, wrapping.
    var packets: UInt32 = 0
    /// Who sent the RST.
    var resetBy = Direction.fromClient
    /// Who sent the first FIN that was passed on.
    var finBy: Direction?
    var state = State.open
    /// Whether the client is the lower end of the key.
    let clientIsLower: Bool

    init(key: FlowKey, number: Int, receiver: any ConnectionReceiver, clientIsLower: Bool) {
        self.key = key
        self.number = number
        self.receiver = receiver
        self.clientIsLower = clientIsLower
    }

    /// Which direction a segment goes.
    @inline(__always)
    func direction(sourceIsLower: Bool) -> Direction {
        sourceIsLower == clientIsLower ? .fromClient : .fromServer
    }

    /// Takes a segment of this connection.
    @inline(__always)
    mutating func take(
        _ segment: TCPSegment, _ payload: RawSpan, from direction: Direction, _ packet: PacketStamp,
        _ shared: inout ReassemblyState
    ) {
        packets &+= 1
        // Both directions by name, and not by subscript: a copy of one would count a reference.
        let isCommon =
            if resetTime != nil {
                false
            } else if direction == .fromClient {
                sides.fromClient.takeNext(
                    segment, payload, from: .fromClient, other: &sides.fromServer, packet, receiver,
                    notices: shared.options.notices)
            } else {
                sides.fromServer.takeNext(
                    segment, payload, from: .fromServer, other: &sides.fromClient, packet, receiver,
                    notices: shared.options.notices)
            }
        if !isCommon { takeUncommon(segment, payload, from: direction, packet, &shared) }
    }

    /// Passes on the next bytes of a direction.
    mutating func deliver(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, _ packet: Int) {
        sides[direction].deliver(bytes, from: direction, at: time, packet, receiver)
    }

    /// Takes the acknowledgment of a segment: what it says of the other direction.
    mutating func acknowledge(
        _ segment: TCPSegment, by direction: Direction, _ packet: PacketStamp, _ shared: inout ReassemblyState
    ) {
        let isNew = sides[direction.opposite].takeAcknowledgment(
            segment.acknowledgment, by: direction, packet, shared.options.notices ? receiver : nil)
        if isNew, sides[direction.opposite].held != nil { review(direction.opposite, &shared) }
    }
}

/// Where an event comes from: the time and the number of its packet.
struct PacketStamp {
    /// When it was captured.
    var time: Timestamp
    /// Its number, from 1.
    var number: Int
}

/// What all connections of a reassembler share.
struct ReassemblyState {
    /// Limits and choices.
    var options: ReassemblyOptions
    /// The latest time seen.
    var now = Timestamp(nanoseconds: .min)
    /// Memory that held segments take, about.
    var heldCost = 0
    /// Holes and unsettled starts to look at again: by `holeGrace`, `pickupGrace` and `resetGrace`.
    var holes = DeadlineQueue()
    /// Starts to settle.
    var pickups = DeadlineQueue()
    /// Resets to settle.
    var resets = DeadlineQueue()
    /// Closed connections to forget.
    var closed = DeadlineQueue()
    /// The earliest of all those times.
    var nextDeadline = Timestamp(nanoseconds: .max)
    /// The place of the connection at hand, for its deadlines.
    var current = 0

    /// Notes that a connection has to be looked at again.
    mutating func note(_ queue: WritableKeyPath<ReassemblyState, DeadlineQueue>, after interval: Interval, number: Int)
    {
        let time = now + interval
        self[keyPath: queue].append(DeadlineQueue.Entry(time: time, flow: current, number: number))
        nextDeadline = min(nextDeadline, time)
    }
}
