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
        // The common path: the next bytes in order, nothing waiting, nothing special.
        let side = sides[direction]
        if side.next == segment.sequence, side.held == nil,
            side.marks.intersection([.started, .finished]) == .started,
            segment.flags.isDisjoint(with: [.syn, .fin, .rst]), segment.payloadLength == payload.byteCount,
            resetTime == nil
        {
            if segment.flags.contains(.ack) { acknowledge(segment, by: direction, packet, &shared) }
            if shared.options.notices || segment.window == 0 {
                notice(window: segment, from: direction, packet, shared)
            }
            sides[direction].window = segment.window
            if payload.byteCount > 0 { deliver(payload, from: direction, at: packet.time, packet.number) }
        } else {
            takeUncommon(segment, payload, from: direction, packet, &shared)
        }
    }

    /// Passes on the next bytes of a direction.
    @inline(__always)
    mutating func deliver(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, _ packet: Int) {
        let clamped = max(time, sides[direction].lastTime)
        sides[direction].lastTime = clamped
        sides[direction].next &+= UInt32(truncatingIfNeeded: bytes.byteCount)
        sides[direction].offset &+= bytes.byteCount
        receiver?.received(bytes, from: direction, at: clamped, packet: packet)
    }

    /// Takes the acknowledgment of a segment: what it says of the other direction.
    @inline(__always)
    mutating func acknowledge(
        _ segment: TCPSegment, by direction: Direction, _ packet: PacketStamp, _ shared: inout ReassemblyState
    ) {
        let number = segment.acknowledgment
        let known = sides[direction.opposite].marks.contains(.ackSeen)
        guard !known || Int32(bitPattern: number &- sides[direction.opposite].acknowledged) > 0 else { return }
        sides[direction.opposite].acknowledged = number
        sides[direction.opposite].marks.insert(.ackSeen)
        if shared.options.notices { notice(acknowledgment: number, by: direction, packet) }
        if sides[direction.opposite].held != nil { review(direction.opposite, &shared) }
    }

    private func notice(acknowledgment number: UInt32, by direction: Direction, _ packet: PacketStamp) {
        let other = sides[direction.opposite]
        guard other.marks.contains(.started) else { return }
        let offset = other.position(of: number)
        // A FIN counts as one; it is no byte of the stream.
        let end = other.marks.contains(.finished) ? other.offset : other.held?.fin?.offset ?? .max
        if offset > 0 {
            receiver?.noticed(
                .acknowledged(offset: min(offset, end)), from: direction, at: packet.time, packet: packet.number)
        }
    }

    /// Tells when a direction's receive window closes and opens.
    @inline(__always)
    mutating func notice(
        window segment: TCPSegment, from direction: Direction, _ packet: PacketStamp, _ shared: ReassemblyState
    ) {
        let isClosed = segment.window == 0
        guard isClosed != sides[direction].marks.contains(.windowClosed) else { return }
        if isClosed {
            sides[direction].marks.insert(.windowClosed)
        } else {
            sides[direction].marks.remove(.windowClosed)
        }
        if shared.options.notices {
            receiver?.noticed(.windowClosed(isClosed), from: direction, at: packet.time, packet: packet.number)
        }
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
