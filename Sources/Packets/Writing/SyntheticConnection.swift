import Streams

/// The purpose of a synthetic packet.
package enum SyntheticPacket: Sendable, Hashable {
    /// SYN, or the SYN-ACK or RST that answers it.
    case handshake
    /// One chunk of bytes.
    case data
    /// Acknowledges bytes, and has none itself.
    case acknowledgment
    /// FIN or RST.
    case end
}

/// Turns what happened on a proxied connection into the packets that two hosts would have exchanged.
///
/// The proxy sees reads, not packets; recorded as these packets, its traffic can be read by every tool that reads captures. All
/// packets are complete and valid: IPv4 or IPv6 and TCP with right checksums, lengths, identifications, sequence and
/// acknowledgment numbers. Each chunk of data is exactly one packet. A receiver acknowledges with the data it sends, and with
/// pure ACKs every 256 KiB, so that no window is overrun.
///
/// If one endpoint has an IPv4 address and the other an IPv6 address, the IPv4 address is written as the IPv6 address
/// `::ffff:a.b.c.d` (RFC 4291 section 2.5.5.2), since a packet has one address family: `client` and `server` have the result.
///
/// Each method calls `emit` with each packet, in order; the bytes are borrowed for the duration of the call. Anything after an
/// end in the same direction, or after a reset, is ignored: no packet could express it.
///
/// Source: RFC 9293 sections 3.4, 3.5 and 3.6.
package struct SyntheticConnection: Sendable {
    /// The most bytes a chunk may have: what fits an IPv4 packet of 65,535 bytes after two headers of 20.
    package static let chunkLimit = 65_495

    /// After how many bytes the receiver acknowledges even if it sends no data.
    static let acknowledgmentInterval = 262_144
    /// How far sequence numbers advance in one step where bytes are omitted: readers compare them within 2^31.
    static let gapLimit = 1 << 30

    /// The connecting end, as it appears in the packets.
    package let client: Endpoint
    /// The other end, as it appears in the packets.
    package let server: Endpoint

    private var sides: PerDirection<Side>
    private var hasSentSYN = false
    private var isOver = false
    /// The packet being written; its memory is reused.
    private var packet: [UInt8] = []

    /// One end of the connection.
    private struct Side: Sendable {
        /// The sequence number of the next byte.
        var next: UInt32
        /// How many bytes the other end has not acknowledged.
        var unacknowledged = 0
        /// The next packet's identification.
        var identification: UInt16
        var isFinished = false
        /// Whether its receive window is closed, which all its packets then advertise.
        var isWindowClosed = false
    }

    /// A connection without any packets yet.
    ///
    /// - Parameters:
    ///   - number: the connection's number; the initial sequence numbers are derived from it, so that recordings are
    ///     reproducible.
    ///   - client: the connecting end.
    ///   - server: the other end.
    ///   - initialSequence: the initial sequence numbers, to override the derived ones.
    package init(number: Int, client: Endpoint, server: Endpoint, initialSequence: PerDirection<UInt32>? = nil) {
        let mapsIPv4 = client.address.isIPv4 != server.address.isIPv4
        self.client = mapsIPv4 ? client.mappedToIPv6 : client
        self.server = mapsIPv4 ? server.mappedToIPv6 : server
        let bits = SyntheticConnection.mix(UInt64(truncatingIfNeeded: number))
        let sequence =
            initialSequence
            ?? PerDirection(
                fromClient: UInt32(truncatingIfNeeded: bits), fromServer: UInt32(truncatingIfNeeded: bits >> 32))
        sides = PerDirection(
            fromClient: Side(next: sequence.fromClient, identification: UInt16(truncatingIfNeeded: bits >> 8)),
            fromServer: Side(next: sequence.fromServer, identification: UInt16(truncatingIfNeeded: bits >> 40)))
    }

    /// Spreads small numbers over 64 bits (the finalizer of SplitMix64).
    private static func mix(_ number: UInt64) -> UInt64 {
        var bits = number &* 0x9e37_79b9_7f4a_7c15
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}

extension SyntheticConnection {
    /// The client begins to connect: SYN. If this is not called, `open` and `refused` begin with it.
    package mutating func connecting(_ emit: (SyntheticPacket, RawSpan) -> Void) {
        guard !hasSentSYN else { return }
        hasSentSYN = true
        send(.handshake, .syn, from: .fromClient, emit)
        sides.fromClient.next &+= 1
    }

    /// The connection opens: SYN (unless it was sent), SYN and ACK, ACK.
    package mutating func open(_ emit: (SyntheticPacket, RawSpan) -> Void) {
        connecting(emit)
        send(.handshake, [.syn, .ack], from: .fromServer, emit)
        sides.fromServer.next &+= 1
        send(.handshake, .ack, from: .fromClient, emit)
    }

    /// The server could not be reached: SYN (unless it was sent), answered by RST and ACK. Instead of `open`.
    package mutating func refused(_ emit: (SyntheticPacket, RawSpan) -> Void) {
        connecting(emit)
        // RFC 9293 section 3.5.2: the RST that answers a SYN for a nonexistent connection has sequence number 0.
        sides.fromServer.next = 0
        reset(from: .fromServer, emit)
    }

    /// A chunk of bytes: exactly one packet with PSH and ACK, followed by an acknowledgment if one is due.
    ///
    /// - Parameters:
    ///   - bytes: at most `chunkLimit` bytes, otherwise it traps: the caller splits. An empty chunk yields no packet.
    ///   - direction: who sent them.
    ///   - emit: gets each packet.
    package mutating func data(_ bytes: RawSpan, from direction: Direction, _ emit: (SyntheticPacket, RawSpan) -> Void)
    {
        precondition(bytes.byteCount <= SyntheticConnection.chunkLimit, "a chunk has at most 65,495 bytes")
        guard bytes.byteCount > 0, !isOver, !sides[direction].isFinished else { return }
        send(.data, [.psh, .ack], from: direction, payload: bytes, emit)
        advance(direction, by: bytes.byteCount)
        if sides[direction].unacknowledged >= SyntheticConnection.acknowledgmentInterval {
            send(.acknowledgment, .ack, from: direction.opposite, emit)
        }
    }

    /// Bytes that were forwarded but not recorded: the sequence number skips them, and the receiver acknowledges them, so that a
    /// reader knows that they arrived and does not wait for them.
    ///
    /// - Parameters:
    ///   - byteCount: how many. More than 1 GiB are acknowledged in steps of that, so that sequence numbers stay comparable.
    ///   - direction: who sent them.
    ///   - emit: gets each packet.
    package mutating func dropped(
        _ byteCount: Int, from direction: Direction, _ emit: (SyntheticPacket, RawSpan) -> Void
    ) {
        guard !isOver, !sides[direction].isFinished else { return }
        var left = byteCount
        while left > 0 {
            let step = min(left, SyntheticConnection.gapLimit)
            advance(direction, by: step)
            send(.acknowledgment, .ack, from: direction.opposite, emit)
            // If more follows, the sender's own number advances with the acknowledgment, so that a reader can follow.
            if step == SyntheticConnection.gapLimit { send(.acknowledgment, .ack, from: direction, emit) }
            left -= step
        }
    }

    /// One side stops accepting data, or resumes: an ACK with a window of 0, or with the usual one (RFC 9293 section 3.8.6).
    package mutating func closeWindow(
        _ isClosed: Bool, of direction: Direction, _ emit: (SyntheticPacket, RawSpan) -> Void
    ) {
        guard !isOver, sides[direction].isWindowClosed != isClosed else { return }
        sides[direction].isWindowClosed = isClosed
        send(.acknowledgment, .ack, from: direction, emit)
    }

    /// One side acknowledges what it has received: an ACK without data.
    package mutating func acknowledge(from direction: Direction, _ emit: (SyntheticPacket, RawSpan) -> Void) {
        guard !isOver else { return }
        send(.acknowledgment, .ack, from: direction, emit)
    }

    /// One side sends no more: FIN and ACK, then an ACK from the other side, which may continue sending.
    package mutating func finish(from direction: Direction, _ emit: (SyntheticPacket, RawSpan) -> Void) {
        guard !isOver, !sides[direction].isFinished else { return }
        send(.end, [.fin, .ack], from: direction, emit)
        advance(direction, by: 1)
        sides[direction].isFinished = true
        send(.acknowledgment, .ack, from: direction.opposite, emit)
        isOver = sides[direction.opposite].isFinished
    }

    /// One side resets the connection: RST and ACK.
    package mutating func reset(from direction: Direction, _ emit: (SyntheticPacket, RawSpan) -> Void) {
        guard !isOver else { return }
        send(.end, [.rst, .ack], from: direction, emit)
        isOver = true
    }

    private mutating func advance(_ direction: Direction, by byteCount: Int) {
        sides[direction].next &+= UInt32(truncatingIfNeeded: byteCount)
        sides[direction].unacknowledged += byteCount
    }

    /// Writes one packet that acknowledges everything the other side has sent.
    private mutating func send(
        _ kind: SyntheticPacket, _ flags: SyntheticSegment.Flags, from direction: Direction,
        payload: RawSpan = RawSpan(), _ emit: (SyntheticPacket, RawSpan) -> Void
    ) {
        let side = sides[direction]
        var segment = SyntheticSegment(
            source: direction == .fromClient ? client : server,
            destination: direction == .fromClient ? server : client,
            sequence: side.next,
            acknowledgment: flags.contains(.ack) ? sides[direction.opposite].next : 0,
            flags: flags, identification: side.identification)
        if side.isWindowClosed { segment.window = 0 }
        if flags.contains(.syn) { segment.options = SyntheticConnection.options }
        segment.write(payload, into: &packet)
        sides[direction].identification &+= 1
        if flags.contains(.ack) { sides[direction.opposite].unacknowledged = 0 }
        emit(kind, packet.span.bytes)
    }

    /// The options of a SYN: maximum segment size (RFC 9293 section 3.7.1), no operation, and window scale 7 (RFC 7323
    /// section 2.2), which makes the window 8 MiB.
    private static let options: [UInt8] = [
        2, 4, UInt8(chunkLimit >> 8), UInt8(chunkLimit & 255),
        1, 3, 3, 7,
    ]

    /// Whether the options of a SYN, as one number, are these.
    static func isOptions(_ bytes: UInt64) -> Bool {
        bytes == options.reduce(0) { $0 << 8 | UInt64($1) }
    }
}

extension Endpoint {
    /// The endpoint with an IPv4 address as `::ffff:a.b.c.d`.
    fileprivate var mappedToIPv6: Endpoint {
        address.isIPv4 ? Endpoint(IPAddress(v6: 0, 0xffff_0000_0000 | address.low), port) : self
    }
}
