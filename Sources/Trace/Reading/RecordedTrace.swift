import Streams

/// A trace that was read: what was said on each connection (`docs/trace.md`).
public struct RecordedTrace: Sendable {
    /// What was traced, as the first line says: files, addresses.
    public var source: String
    /// The connections, in order of opening.
    public var connections: [RecordedConnection] = []
    /// What could not be read of it, and where it was begun anew or ends early: lines for people.
    public var notes: [String] = []

    /// A trace without connections.
    public init(source: String) {
        self.source = source
    }

    /// The frames of all connections, those of one behind those of another.
    public var frames: [FrameEvent] { connections.flatMap(\.frames) }
}

/// A connection of a trace.
public struct RecordedConnection: Sendable {
    /// Its number in the trace.
    public var number: Int
    /// When it opened.
    public var opened: Timestamp
    /// The client's address and port.
    public var client: String
    /// The server's address and port.
    public var server: String
    /// The name of its format; nil where none was recognised.
    public var format: String?
    /// What was said, in the order of the trace.
    public var items: [RecordedItem] = []
    /// What analyses found.
    public var findings: [FindingEvent] = []
    /// How it ended.
    public var closing: ClosedEvent?

    /// A connection on which nothing was said.
    public init(number: Int, opened: Timestamp, client: String, server: String) {
        self.number = number
        self.opened = opened
        self.client = client
        self.server = server
    }

    /// Its frames.
    public var frames: [FrameEvent] {
        items.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
    }
}

/// Something that was said on a connection, or could not be read.
public enum RecordedItem: Hashable, Sendable {
    /// A frame.
    case frame(FrameEvent)
    /// Bytes that belong to no frame.
    case unframed(RunEvent)
    /// Bytes that were not seen.
    case missing(RunEvent)

    /// Whose bytes.
    public var from: Direction {
        switch self {
        case .frame(let frame): frame.from
        case .unframed(let run), .missing(let run): run.from
        }
    }

    /// When the last of them was seen.
    public var time: Timestamp {
        switch self {
        case .frame(let frame): frame.time
        case .unframed(let run), .missing(let run): run.time
        }
    }

    /// The frame; nil for all else.
    public var frame: FrameEvent? { if case .frame(let frame) = self { frame } else { nil } }
}
