/// What takes the streams of a source: the seam between where bytes come from and what they mean.
///
/// A source (capture, interface, proxy) calls `open` for each connection and then talks to what that returns.
/// A receiver does not know which kind of source it has.
public protocol StreamReceiver: AnyObject {
    /// A connection opened. What is returned gets all that happens on it.
    func open(_ opening: Opening) -> any ConnectionReceiver

    /// Nothing that is still to come is earlier than `time`; deadlines before it have passed.
    ///
    /// A source calls this before every event with the event's own time, and from time to time when nothing happens.
    func advance(to time: Timestamp)
}

/// What takes the bytes and events of one connection.
///
/// Per direction the calls come in stream order: `received` and `missing` fill the stream without gap, then `finished`,
/// if an end was seen. `closed` is the last call. Bytes are borrowed for the time of the call.
public protocol ConnectionReceiver: AnyObject {
    /// The next bytes of one direction.
    ///
    /// - Parameters:
    ///   - bytes: at least one byte; one packet's payload or one read of a socket.
    ///   - direction: who sent them.
    ///   - time: when they were seen. Never decreases within a direction.
    ///   - packet: the number of the packet that held them, from 1; 0 where there are no packets.
    func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int)

    /// The next `byteCount` bytes of one direction were not seen and won't be.
    ///
    /// - Parameter time: when the first byte behind the gap was seen.
    func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp)

    /// Something beside the bytes, for analyses.
    func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int)

    /// One direction ended: nothing more comes from there.
    func finished(_ ending: Ending, from direction: Direction, at time: Timestamp)

    /// The connection is over, as far as the source can tell.
    func closed(_ closing: Closing)
}

/// How a connection began.
public struct Opening: Hashable, Sendable {
    /// Counts from 1 in order of opening.
    public var number: Int
    /// When the first packet was seen, or the connection accepted.
    public var time: Timestamp
    /// The sender of the SYN, where it was seen.
    public var client: Endpoint
    /// The other end.
    public var server: Endpoint
    /// Whether a SYN was seen, or the SYN that answers it, so that the streams start at their first byte.
    public var handshake: Bool
    /// Whether which end is the client is only a guess (from the ports).
    public var clientGuessed: Bool

    /// How a connection began.
    public init(
        number: Int, time: Timestamp, client: Endpoint, server: Endpoint, handshake: Bool = true,
        clientGuessed: Bool = false
    ) {
        self.number = number
        self.time = time
        self.client = client
        self.server = server
        self.handshake = handshake
        self.clientGuessed = clientGuessed
    }
}

/// How one direction of a connection ended.
public enum Ending: String, Sendable, Hashable {
    /// The sender closed its side (FIN).
    case fin
    /// The sender reset the connection (RST).
    case reset
}

/// How a connection ended.
public struct Closing: Hashable, Sendable {
    /// Why it is over.
    public var reason: CloseReason
    /// Who ended it: the first to send FIN, the sender of the RST; nil where neither did.
    public var by: Direction?
    /// When.
    public var time: Timestamp
    /// For people: the system's error behind `connectFailed`, or nil.
    public var detail: String?

    /// How a connection ended.
    public init(reason: CloseReason, by: Direction?, time: Timestamp, detail: String? = nil) {
        self.reason = reason
        self.by = by
        self.time = time
        self.detail = detail
    }
}

/// The fixed list of reasons for which a connection is over.
public enum CloseReason: String, Sendable, Hashable, CaseIterable {
    /// Both sides sent FIN.
    case fin
    /// One side sent RST.
    case reset
    /// Nothing was said for longer than the source waits.
    case timeout
    /// Let go to stay within a limit of memory.
    case evicted
    /// The capture ended, or the proxy was stopped, with the connection open.
    case endOfInput = "end-of-input"
    /// The server could not be reached: the proxy's own attempt failed, or a SYN was answered by a RST.
    case connectFailed = "connect-failed"
    /// The proxy had as many connections as it was allowed.
    case refusedByLimit = "refused-by-limit"
}

/// What was seen beside a direction's bytes; the direction is that of the sender of the packet.
public enum StreamNotice: Hashable, Sendable {
    /// The sender's SYN was seen.
    case synchronised
    /// The *other* side's bytes up to this stream offset were acknowledged by the sender of this packet.
    case acknowledged(offset: Int)
    /// Bytes that had been seen before came again.
    case retransmitted(offset: Int, byteCount: Int)
    /// The next bytes were overtaken: others behind them had been seen at `since`, so that all of them had been sent by then.
    case overtaken(since: Timestamp)
    /// Bytes or the end of this direction were seen at `since`, and wait for others before them, while the other direction goes
    /// on: what was seen of this one is known up to that time only.
    case waiting(since: Timestamp)
    /// The sender's receive window closed (true) or opened again (false).
    case windowClosed(Bool)
    /// Bytes that had been seen before came again and were different. `kept` is what the stream has there.
    case conflict(offset: Int, kept: [UInt8], other: [UInt8])
    /// Bytes came after they had been declared missing, or, at a negative offset, before the first one of a stream that was
    /// picked up mid-stream. The stream does not have them.
    case late(offset: Int, bytes: [UInt8])
    /// Bytes behind the sender's FIN, which are none of the stream (RFC 9293 section 3.10.7.4).
    case afterEnd(offset: Int, byteCount: Int)
    /// Nothing was said for so long that the connection was let go: it keeps its number and its place in the streams, and
    /// whatever else is held for it may be given up.
    case idle
    /// So many bytes of this direction waited behind a gap, and were passed on since the memory limit was reached; the gap is
    /// missing.
    case memoryLimit(byteCount: Int)
    /// The proxy passed bytes on that it could not record; they will be `missing`, if more follow.
    case unrecorded(offset: Int, byteCount: Int)
    /// The proxy held the sender's bytes back because the other side did not take them.
    case held(Bool)
    /// A segment in a pause of one side.
    case segment(SegmentNotice)
}
