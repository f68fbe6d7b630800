/// Receives the streams of a source: the seam between where bytes come from and what they mean.
///
/// A source (capture, interface, proxy) calls `open` for each connection and then reports to the receiver it returns. A receiver
/// does not know which kind of source it has.
package protocol StreamReceiver: AnyObject {
    /// A connection opened. The receiver returned gets all its events.
    func open(_ opening: Opening) -> any ConnectionReceiver

    /// No later event is earlier than `time`; deadlines before it have passed.
    ///
    /// A source calls this before every event with the event's own time, and periodically when nothing happens.
    func advance(to time: Timestamp)

    /// Until when advancing changes nothing, unless there is another event before. Optional to implement.
    var quietUntil: Timestamp { get }

    /// The source has secrets of TLS connections, in the form of an NSS key log. They come before the bytes that need them.
    func learned(keyLog: RawSpan)
}

extension StreamReceiver {
    /// It is not known.
    package var quietUntil: Timestamp { Timestamp(nanoseconds: .min) }

    /// Ignores them, as those do that do not decrypt.
    package func learned(keyLog: RawSpan) {}
}

/// Receives the bytes and events of one connection.
///
/// Per direction, calls come in stream order: `received` and `missing` cover the stream without a gap, then `finished` follows if
/// an end was seen. `closed` is the last call. Bytes are borrowed for the duration of the call.
package protocol ConnectionReceiver: AnyObject {
    /// The next bytes of one direction.
    ///
    /// - Parameters:
    ///   - bytes: at least one byte; one packet's payload or one socket read.
    ///   - direction: who sent them.
    ///   - time: when they were seen. Never decreases within a direction.
    ///   - packet: the number of the packet that carried them, from 1; 0 if there are no packets.
    func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int)

    /// The next `byteCount` bytes of one direction were not seen and never will be.
    ///
    /// - Parameter time: when the first byte after the gap was seen.
    func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp)

    /// An event other than bytes, for analyses.
    func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int)

    /// One direction ended: its sender sends nothing more.
    func finished(_ ending: Ending, from direction: Direction, at time: Timestamp)

    /// The connection is over, as far as the source can tell.
    func closed(_ closing: Closing)

    /// Packs what it knows, if numbers say all there is to know; it is not used any more then. Not called during an event.
    ///
    /// - Returns: what unpacks another of it, which continues with the same results; nil if this one has to stay.
    func pack(into numbers: inout PackedNumbers) -> (any ReceiverSource)?
}

extension ConnectionReceiver {
    /// It has to stay.
    package func pack(into numbers: inout PackedNumbers) -> (any ReceiverSource)? { nil }
}

/// Unpacks receivers.
package protocol ReceiverSource: AnyObject {
    /// Whether many connections have it in common.
    var isShared: Bool { get }

    /// A receiver that continues one that was packed.
    func receiver(from numbers: inout PackedNumbers) -> any ConnectionReceiver
}

/// How a connection began.
public struct Opening: Hashable, Sendable {
    /// Counts from 1 in order of opening. Both legs of a connection share it.
    public var number: Int
    /// Which leg of the connection this is; nil if it has only one.
    public var leg: Leg?
    /// When the first packet was seen, or the connection accepted.
    public var time: Timestamp
    /// The sender of the SYN, if it was seen.
    public var client: Endpoint
    /// The other end.
    public var server: Endpoint
    /// Whether a SYN or SYN-ACK was seen, so that the streams start at their first byte.
    public var handshake: Bool
    /// Whether the client was only guessed (from the ports).
    public var clientGuessed: Bool

    /// How a connection began.
    public init(
        number: Int, leg: Leg? = nil, time: Timestamp, client: Endpoint, server: Endpoint, handshake: Bool = true,
        clientGuessed: Bool = false
    ) {
        (self.number, self.leg) = (number, leg)
        self.time = time
        self.client = client
        self.server = server
        self.handshake = handshake
        self.clientGuessed = clientGuessed
    }

    /// The connection's number, and which leg it is.
    public var connectionLeg: ConnectionLeg { ConnectionLeg(number, leg) }
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
    /// Who ended it: the first to send FIN, or the sender of the RST; nil if neither did.
    public var by: Direction?
    /// When.
    public var time: Timestamp
    /// The system's error that caused `connectFailed`, for humans; or nil.
    public var detail: String?

    /// How a connection ended.
    public init(reason: CloseReason, by: Direction?, time: Timestamp, detail: String? = nil) {
        self.reason = reason
        self.by = by
        self.time = time
        self.detail = detail
    }
}

/// The fixed list of reasons why a connection is over.
public enum CloseReason: String, Sendable, Hashable, CaseIterable {
    /// Both sides sent FIN.
    case fin
    /// One side sent RST.
    case reset
    /// Idle for longer than the source waits.
    case timeout
    /// Evicted to stay within a memory limit.
    case evicted
    /// The capture ended, or the proxy was stopped, with the connection open.
    case endOfInput = "end-of-input"
    /// The server could not be reached: the proxy's own attempt failed, or a SYN was answered by a RST.
    case connectFailed = "connect-failed"
    /// The proxy had as many connections as it was allowed.
    case refusedByLimit = "refused-by-limit"
    /// A TLS handshake of the proxy failed, or its TLS broke later.
    case tlsFailed = "tls-failed"
    /// A rule of the proxy, or a command, ended it.
    case rule
}

/// An event other than a direction's bytes; the direction is that of the packet's sender.
package enum StreamNotice: Hashable, Sendable {
    /// The sender's SYN was seen.
    case synchronised
    /// The *other* side's bytes up to this stream offset were acknowledged by the sender of this packet.
    case acknowledged(offset: Int)
    /// The other side acknowledged bytes of this direction, of which no packet was captured.
    case unseen
    /// Bytes seen before were retransmitted.
    case retransmitted(offset: Int, byteCount: Int)
    /// The next bytes were overtaken: later ones had been seen at `since`, so all of them had been sent by then.
    case overtaken(since: Timestamp)
    /// Bytes or the end of this direction were seen at `since` and wait for earlier bytes, while the other direction continues:
    /// this one is known only up to that time.
    case waiting(since: Timestamp)
    /// The sender's receive window closed (true) or opened again (false).
    case windowClosed(Bool)
    /// Bytes seen before were retransmitted with different content. `kept` is the stream's content there.
    case conflict(offset: Int, kept: [UInt8], other: [UInt8])
    /// Bytes arrived after they had been declared missing, or, at a negative offset, before the first byte of the stream: it was
    /// picked up mid-stream, or they are of an older connection. They are not part of the stream.
    case late(offset: Int, bytes: [UInt8])
    /// Bytes after the sender's FIN, which are not part of the stream (RFC 9293 section 3.10.7.4).
    case afterEnd(offset: Int, byteCount: Int)
    /// Bytes far outside of the receiver's window, which it never acknowledged, although it acknowledged later ones before them.
    /// They are not part of the stream (RFC 9293 section 3.10.7.4).
    case stray(offset: Int, byteCount: Int)
    /// The connection has been silent long enough to be idle: it keeps its number and its position in the streams; all other
    /// state held for it may be dropped.
    case idle
    /// This many bytes of the direction waited behind a gap and were passed on because the memory limit was reached; the gap is
    /// missing.
    case memoryLimit(byteCount: Int)
    /// The proxy forwarded bytes that it could not record; they will be `missing` if more follow.
    case unrecorded(offset: Int, byteCount: Int)
    /// The proxy held the sender's bytes back because the other side did not accept them.
    case held(Bool)
    /// The connection uses TLS: reported once, before the first bytes that were decrypted.
    indirect case tls(TLSFacts)
    /// A rule of the proxy did something.
    indirect case action(ActionReport)
    /// An annotation that frametap wrote into its own recording: the text after `frametap ` in a packet comment.
    indirect case annotated(String)
    /// The direction's TLS ended without a close_notify (RFC 8446 section 6.1): its data may be truncated.
    case tlsTruncated
    /// There are no keys to decrypt the connection's TLS, or, with a label, one direction of it.
    ///
    /// Its client random, in hexadecimal, says which keys they would be; nil if its ClientHello was not captured. The label is
    /// that of the secret in the key log.
    indirect case tlsKeysMissing(clientRandom: String?, label: String? = nil)
    /// TLS broke, in words: an alert, records that cannot be decrypted.
    case tlsFault(String)
    /// A segment during a pause of one side.
    case segment(SegmentNotice)

    /// Whether it reports a segment during a pause, which only witnesses need.
    package var isSegment: Bool {
        if case .segment = self { true } else { false }
    }
}
