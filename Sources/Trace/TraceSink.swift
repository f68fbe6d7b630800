import Framing
import Streams

/// What takes a trace as it comes about: one kind of output.
///
/// Per connection the calls come in this order: opened, recognised, then frames, gaps, unframed runs and
/// findings, then closed. Bytes are borrowed for the time of the call.
public protocol TraceSink: AnyObject {
    /// Whether it has to be told of frames.
    var takesFrames: Bool { get }

    /// How many bytes of a body it looks at: those behind them may be streamed, so that large bodies need not be held whole.
    var bodyLimit: Int { get }

    /// A connection opened.
    func opened(_ connection: TracedConnection)

    /// The connection's format is known, or (`connection.format` is nil) is known not to be among those looked for.
    func recognised(_ connection: TracedConnection)

    /// A frame; `bytes` is what it stands for (escapes resolved), with the parts `frame.shape`.
    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection)

    /// The next bytes of a body that is streamed, behind its first bytes; these come with `frame`, when the body is complete. Where it is
    /// given up, they are unframed.
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

    /// What has been taken so far should become visible now.
    func flush()
}

extension TraceSink {
    /// Most do.
    public var takesFrames: Bool { true }

    /// All of them.
    public var bodyLimit: Int { .max }

    /// Most have no use for them.
    public func streamed(
        _ part: StreamedPart, bytes: RawSpan, from direction: Direction, on connection: TracedConnection
    ) {}
}

/// A connection as a trace knows it.
public final class TracedConnection {
    /// How it began.
    public let opening: Opening
    /// Its format; nil while it is not known, or where none was recognised.
    public var format: Format? { known?.format }
    /// How the format was chosen; nil while it is not known.
    public var choice: FormatChoice? { chosen?.choice }
    private var chosen: SharedChoice?

    /// The kinds of its frames; nil while its format is not known.
    package var kinds: PerDirection<FrameKinds>? { known?.kinds }
    /// What it shares with other connections of its format.
    private var known: KnownFormat?
    /// How many bodies were not what they should be; known when the connection is over.
    package var faults: PerDirection<FaultCounts> {
        get { counted?.faults ?? PerDirection(fromClient: FaultCounts(), fromServer: FaultCounts()) }
        set { counted = CountedFaults(newValue) }
    }
    private var counted: CountedFaults?
    /// What passed so far. Nothing that is called while it changes comes back to it.
    @exclusivity(unchecked) public package(set) var traffic = PerDirection(
        fromClient: Traffic(), fromServer: Traffic())
    /// Whether it has begun as conversations of its format do: if not, the format promises nothing of heartbeats and requests.
    package var hasBegun = true
    /// Whether each side sent any bytes; known when the connection is over.
    package var hadBytes = PerDirection(fromClient: false, fromServer: false)
    /// Who wants to know of segments in pauses: few do.
    package var witnesses: [any SegmentWitness] = []
    /// Whether nobody pairs its requests and answers any more.
    package var skipsPairs = false
    /// Whether each side sent a heartbeat; known when the connection is over.
    package var hadHeartbeats = PerDirection(fromClient: false, fromServer: false)

    /// A connection whose format is not known yet.
    public init(_ opening: Opening) {
        self.opening = opening
    }

    /// Its number, from 1.
    public var number: Int { opening.number }

    /// So many more frames of a side were complete.
    package func count(_ frames: Int, from direction: Direction, at time: Timestamp) {
        if direction == .fromClient {
            traffic.fromClient.add(frames, at: time)
        } else {
            traffic.fromServer.add(frames, at: time)
        }
    }

    /// Says what the format is.
    public func recognise(_ format: Format?, _ choice: FormatChoice) {
        chosen = SharedChoice(choice)
        known = format.map { KnownFormat($0) }
    }

    /// Says what the format is, and what is known of its frames from other connections.
    package func recognise(_ format: KnownFormat, _ choice: FormatChoice) {
        chosen = format.shared(choice)
        known = format
    }
}

/// Takes what segments reveal beside their bytes, while a side of their connection pauses.
package protocol SegmentWitness: AnyObject {
    /// A segment was captured; the call comes before that of its bytes.
    func saw(_ segment: SegmentNotice, from direction: Direction, at time: Timestamp)
}

/// What is counted of a connection that is over: as long as it is open, no room is needed for it.
private final class CountedFaults {
    let faults: PerDirection<FaultCounts>

    init(_ faults: PerDirection<FaultCounts>) { self.faults = faults }
}

/// A format, and what is known of the frames of all its connections.
package final class KnownFormat {
    /// The format.
    package let format: Format
    /// The kinds of frames of each side.
    package let kinds: PerDirection<FrameKinds>

    /// A format of which no frame has been seen.
    package init(_ format: Format) {
        self.format = format
        kinds = PerDirection(fromClient: FrameKinds(format, .fromClient), fromServer: FrameKinds(format, .fromServer))
    }

    /// How the format was chosen for the last connection: for the next it is mostly the same.
    private var lastChoice: SharedChoice?

    fileprivate func shared(_ choice: FormatChoice) -> SharedChoice {
        if let lastChoice, lastChoice.choice == choice { return lastChoice }
        let shared = SharedChoice(choice)
        lastChoice = shared
        return shared
    }
}

/// A choice that many connections have in common.
private final class SharedChoice {
    let choice: FormatChoice

    init(_ choice: FormatChoice) { self.choice = choice }
}

/// How a connection's format was chosen.
public struct FormatChoice: Hashable, Sendable {
    /// The ways to choose.
    public enum Way: String, Sendable, CaseIterable {
        /// By what the bytes look like.
        case content
        /// By the server's port.
        case port
        /// As asked for.
        case option
    }

    /// How it was chosen.
    public var by: Way
    /// For people: what spoke for it.
    public var evidence: String

    /// How a connection's format was chosen.
    public init(by: Way, evidence: String) {
        self.by = by
        self.evidence = evidence
    }
}

/// A frame as a trace knows it; its bytes come beside it.
public struct TracedFrame {
    /// Where it lies and when it was seen.
    public var info: FrameInfo
    /// The parts of what its bytes stand for; differs from `info.shape` where escapes were resolved.
    public var shape: FrameShape
    /// Who sent it.
    public var direction: Direction
    /// Whether the format calls it a heartbeat.
    public var isHeartbeat: Bool
    /// Its kind among those of its connection, where few bytes tell it.
    package var kind: Int?
    /// Its body, where reading it is worth doing only once.
    package var body: DecodedBody?
    /// Whether the frames before it make its body a secret.
    package var isSecret = false

    /// A frame; without `shape` its bytes stand for themselves.
    public init(info: FrameInfo, shape: FrameShape? = nil, direction: Direction, isHeartbeat: Bool) {
        self.info = info
        self.shape = shape ?? info.shape
        self.direction = direction
        self.isHeartbeat = isHeartbeat
    }

    /// What the body of the frame with these bytes is; with a gap in the frame nobody can say.
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

/// Bytes of a stream that are not there.
public struct Gap: Hashable, Sendable {
    /// Whose bytes.
    public var direction: Direction
    /// The stream offset of the first one.
    public var offset: Int
    /// How many.
    public var byteCount: Int
    /// When that was known.
    public var time: Timestamp

    /// Bytes that are not there.
    public init(direction: Direction, offset: Int, byteCount: Int, time: Timestamp) {
        self.direction = direction
        self.offset = offset
        self.byteCount = byteCount
        self.time = time
    }
}
