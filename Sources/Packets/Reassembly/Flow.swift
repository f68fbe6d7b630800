import Streams

/// One connection: the state of both directions, and the receiver of its bytes.
struct Flow {
    /// A connection's state.
    enum State: UInt8 {
        /// Segments are passed on.
        case open
        /// `closed` was reported; late segments are ignored.
        case closed
        /// The place is free for another connection.
        case free
    }

    /// Both ends.
    let key: FlowKey
    /// Counts from 1 in order of opening. Both legs of a connection share it.
    let number: Int
    /// Whether the client is the lower end of the key.
    let clientIsLower: Bool
    var state = State.open
    /// Who sent the first FIN that was passed on.
    var finBy: Direction?
    /// Whether it is marked idle.
    var isIdle = false
    /// Receives the bytes; nil once closed.
    var receiver: (any ConnectionReceiver)?
    /// Both directions.
    var sides = PerDirection(fromClient: SendingSide(), fromServer: SendingSide())
    /// How many packets it had; wraps around.
    var packets: UInt32 = 0
    /// When it becomes idle, if no packet arrives before.
    var quietAt = Timestamp.distantFuture
    /// Until when segments are reported after a long pause.
    var reportedUntil = Timestamp(nanoseconds: .min)
    /// The first valid RST, if one was seen and nothing has disproved it since.
    var reset: SeenReset?
    /// Whether a deadline for its RST is pending.
    var awaitsReset = false
    /// Whether the connection's other leg has its number.
    var isJoined = false
    /// Whether the client's SYN came again after bytes were passed on.
    var hasRepeatedSYN = false

    /// The first valid RST.
    struct SeenReset {
        /// When it was seen.
        var time: Timestamp
        /// Who sent it.
        var by: Direction
        /// Its sequence number.
        var sequence: UInt32
        /// The sequence number after all that the other side had sent when it was seen; nil if nothing of that was known.
        var reach: UInt32?
    }

    /// Its number, and which leg it is.
    var connectionLeg: ConnectionLeg { ConnectionLeg(number, key.leg) }

    init(key: FlowKey, number: Int, receiver: (any ConnectionReceiver)?, clientIsLower: Bool) {
        (self.key, self.number, self.receiver, self.clientIsLower) = (key, number, receiver, clientIsLower)
    }

    /// A segment's direction.
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
        if shared.now > quietAt { speakAgain(&shared) }
        quietAt = shared.quietAt
        let skipped = countSkipped(segment, from: direction)
        if (packets < Self.reportedFirst && segment.clock != 0) || packet.time < reportedUntil
            || hasPause(at: packet.time, of: shared.reportedPause)
        {
            report(segment, skippedPackets: skipped, from: direction, packet)
        }
        if !takeInOrder(segment, payload, from: direction, packet, notices: shared.options.notices) {
            takeUncommon(segment, payload, from: direction, packet, &shared)
        } else if shared.options.conflictHistory > 0 {
            shared.record(payload, at: offset(of: direction) &- payload.byteCount, from: direction)
        }
    }

    /// Passes on the next bytes of a direction.
    mutating func deliver(
        _ bytes: RawSpan, from direction: Direction, at time: Timestamp, _ packet: Int,
        _ shared: inout ReassemblyState
    ) {
        shared.record(bytes, at: sides[direction].offset, from: direction)
        reportWaiting(direction.opposite, at: time, shared)
        sides[direction].deliver(bytes, from: direction, at: time, packet, receiver)
    }

    /// Reports, before something of one direction is passed on, since when the other one has been waiting, if it has.
    func reportWaiting(_ direction: Direction, at time: Timestamp, _ shared: borrowing ReassemblyState) {
        guard let since = shared.held(sides[direction])?.since else { return }
        receiver?.noticed(.waiting(since: since), from: direction, at: time, packet: 0)
    }

    /// Takes a segment's acknowledgment, which concerns the other direction.
    mutating func acknowledge(
        _ segment: TCPSegment, by direction: Direction, _ packet: PacketStamp, _ shared: inout ReassemblyState
    ) {
        // Before its own SYN a host can acknowledge only bytes of an older connection between the same ends (RFC 9293 section
        // 3.5.1). If just its SYN was not captured, this counts once its stream begins without one, or at the end.
        if !sides[direction].marks.contains(.started), sides[direction.opposite].hasOnlySYN,
            !sides[direction.opposite].marks.contains(.ackSeen),
            sides[direction.opposite].position(of: segment.acknowledgment) > 0
        {
            return sides[direction.opposite].doubt(segment.acknowledgment)
        }
        let isNew = sides[direction.opposite].takeAcknowledgment(
            segment.acknowledgment, by: direction, packet,
            fin: shared.held(sides[direction.opposite])?.fin?.offset ?? .max,
            receiver, notices: shared.options.notices)
        if isNew, sides[direction.opposite].isWaiting { review(direction.opposite, &shared) }
    }
}
