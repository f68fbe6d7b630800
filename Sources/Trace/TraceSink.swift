import Framing
import Streams

/// Receives a trace as it is produced: one kind of output.
///
/// Per connection the calls come in this order: opened, tls if it uses TLS, recognised, then frames, gaps, unframed runs and findings, then closed.
/// Bytes are borrowed for the duration of the call.
public protocol TraceSink: AnyObject {
    /// Whether it must be notified of frames.
    var takesFrames: Bool { get }

    /// Whether it distinguishes the legs of a connection. If not, it sees what both sides sent (`Leg.in`), not what the proxy
    /// passed on.
    var takesBothLegs: Bool { get }

    /// Whether it must be notified of chunks: where each lies in its stream. Few want it, and others pay nothing for it.
    var takesChunks: Bool { get }

    /// How many bytes of a body it needs: the rest may be streamed, so that large bodies need not be held whole.
    var bodyLimit: Int { get }

    /// A connection opened.
    func opened(_ connection: TracedConnection)

    /// What is known about the connection's TLS.
    func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection)

    /// A rule of the proxy did something to a frame, or to bytes.
    func action(_ report: ActionReport, on connection: TracedConnection)

    /// The connection's format is known, or (`connection.format` is nil) is known to be none of the candidates.
    func recognised(_ connection: TracedConnection)

    /// The next bytes of a direction arrived. It is called before whatever they complete.
    func chunk(_ chunk: TracedChunk, on connection: TracedConnection)

    /// A frame; `bytes` is its content (escapes resolved), with the parts `frame.shape`.
    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection)

    /// The next bytes of a streamed body, after its first bytes; those arrive with `frame`, when the body is complete. If the
    /// frame is discarded, they are unframed.
    func streamed(_ part: StreamedPart, bytes: RawSpan, from direction: Direction, on connection: TracedConnection)

    /// Bytes that were not seen.
    func missing(_ gap: Gap, on connection: TracedConnection)

    /// Bytes that were forwarded but not recorded.
    func dropped(_ gap: Gap, reason: String, on connection: TracedConnection)

    /// Bytes that belong to no frame.
    func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection)

    /// An analysis found something.
    func finding(_ finding: Finding)

    /// The connection is over.
    func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection)

    /// The trace is over.
    func summary(_ summary: Summary)

    /// Flushes the output so far.
    func flush()
}

extension TraceSink {
    /// Most do.
    public var takesFrames: Bool { true }

    /// Most do not.
    public var takesBothLegs: Bool { false }

    /// Most do not.
    public var takesChunks: Bool { false }

    /// All of them.
    public var bodyLimit: Int { .max }
}

// What a sink does not define, it ignores.
extension TraceSink {
    /// Ignores it.
    public func opened(_ connection: TracedConnection) {}
    /// Ignores it.
    public func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {}
    /// Ignores it.
    public func action(_ report: ActionReport, on connection: TracedConnection) {}
    /// Ignores it.
    public func recognised(_ connection: TracedConnection) {}
    /// Ignores it.
    public func chunk(_ chunk: TracedChunk, on connection: TracedConnection) {}
    /// Ignores it.
    public func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {}
    /// Ignores them.
    public func streamed(
        _ part: StreamedPart, bytes: RawSpan, from direction: Direction, on connection: TracedConnection
    ) {}
    /// Ignores them.
    public func missing(_ gap: Gap, on connection: TracedConnection) {}
    /// Ignores them.
    public func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {}
    /// Ignores them.
    public func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {}
    /// Ignores it.
    public func finding(_ finding: Finding) {}
    /// Ignores it.
    public func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {}
    /// Ignores it.
    public func summary(_ summary: Summary) {}
    /// Has nothing to flush.
    public func flush() {}
}

/// Receives what segments reveal in addition to their bytes, while a side of their connection pauses.
package protocol SegmentWitness: AnyObject {
    /// A segment was captured; called before its bytes are passed on.
    func saw(_ segment: SegmentNotice, from direction: Direction, at time: Timestamp)
}

/// A frame as a trace knows it; its bytes are passed separately.
public struct TracedFrame {
    /// Where it is and when it was seen.
    public var info: FrameInfo
    /// The parts of its content; differs from `info.shape` if escapes were resolved.
    public var shape: FrameShape
    /// Who sent it.
    public var direction: Direction
    /// Whether it is a heartbeat of the format.
    public var isHeartbeat: Bool
    /// Its kind among those of its connection, if few bytes determine it.
    package var kind: Int?
    /// Its body, if it should be decoded only once.
    package var body: DecodedBody?
    /// Whether the frames before it make its body a secret.
    package var isSecret = false
    /// Whether rules have changed what was sent, so that secrets may be anywhere in it.
    package var isChanged = false

    /// A frame; without `shape` its content is its bytes.
    package init(info: FrameInfo, shape: FrameShape? = nil, direction: Direction, isHeartbeat: Bool) {
        self.info = info
        self.shape = shape ?? info.shape
        self.direction = direction
        self.isHeartbeat = isHeartbeat
    }

    /// The decoded body of the frame with these bytes; undetermined if the frame has a gap.
    package func decodedBody(of bytes: RawSpan, _ format: DirectionFormat) -> DecodedBody {
        if info.missing > 0 { return .incomplete }
        if let body { return body }
        return format.decodeBody(of: bytes, shape)
    }

    /// The same, by what is known of the frame's kind.
    package func decodedBody(of bytes: RawSpan, _ kinds: FrameKinds) -> DecodedBody {
        if info.missing > 0 { return .incomplete }
        return body ?? kinds.body(kind, bytes, shape)
    }
}

extension FrameKinds {
    /// The type of a frame, which is known already for most.
    package func type(of frame: TracedFrame, _ bytes: RawSpan) -> String? {
        if let kind = frame.kind { kinds[kind].type } else { format.type(of: bytes, frame.shape) }
    }
}

/// A packet's payload, or one read of the proxy, as part of its direction's stream.
public struct TracedChunk: Hashable, Sendable {
    /// Whose bytes.
    public var direction: Direction
    /// Where they lie in the stream.
    public var range: Range<Int>
    /// When they were seen.
    public var time: Timestamp
    /// The number of the packet that carried them; 0 if there are no packets.
    public var packet: Int

    /// A chunk.
    public init(direction: Direction, range: Range<Int>, time: Timestamp, packet: Int) {
        (self.direction, self.range, self.time, self.packet) = (direction, range, time, packet)
    }
}

/// Bytes of a stream that were not seen.
public struct Gap: Hashable, Sendable {
    /// Whose bytes.
    public var direction: Direction
    /// The stream offset of the first one.
    public var offset: Int
    /// How many.
    public var byteCount: Int
    /// When that was known.
    public var time: Timestamp

    /// Bytes that were not seen.
    public init(direction: Direction, offset: Int, byteCount: Int, time: Timestamp) {
        self.direction = direction
        self.offset = offset
        self.byteCount = byteCount
        self.time = time
    }
}
