import Streams

/// A trace that was read, by connection (`docs/trace.md`).
public struct RecordedTrace: Sendable {
    /// What was traced, according to the first line: files, addresses.
    public var source: String
    /// The connections, in order of opening.
    public var connections: [RecordedConnection] = []
    /// What the proxy passed on, of connections whose bytes it may have changed: `connections` has what both sides sent.
    public var passedOn: [RecordedConnection] = []
    /// What could not be read of it, and where it was restarted or ends early, as human-readable lines.
    public var notes: [String] = []

    /// A trace without connections.
    public init(source: String) {
        self.source = source
    }

    /// The same trace with what the proxy passed on in place of what both sides sent.
    public var ofWhatWasPassedOn: RecordedTrace {
        var trace = self
        for leg in passedOn {
            let place = connections.firstIndex { $0.number == leg.number && $0.earlier == leg.earlier }
            if let place { trace.connections[place] = leg } else { trace.connections.append(leg) }
        }
        trace.passedOn = []
        return trace
    }

    /// The frames of all connections, connection by connection.
    public var frames: [FrameEvent] { connections.flatMap(\.frames) }
}

/// A connection of a trace.
public struct RecordedConnection: Sendable {
    /// Its number in the trace; of a trace of several runs, in its run.
    public var number: Int
    /// When it opened.
    public var opened: Timestamp
    /// The client's address and port.
    public var client: String
    /// The server's address and port.
    public var server: String
    /// The name of its format; nil if none was recognised.
    public var format: String?
    /// Its items, in the order of the trace.
    public var items = RecordedItems()
    /// What analyses found.
    public var findings: [FindingEvent] = []
    /// How it ended.
    public var closing: ClosedEvent?
    /// How many connections of the trace had its number before: both legs of a connection have the same count.
    package var earlier = 0
    /// The bytes of frames, if they were kept: a trace does not have them.
    package var originals: [FrameOrdinal: [UInt8]] = [:]

    /// A connection without items.
    public init(number: Int, opened: Timestamp, client: String, server: String) {
        self.number = number
        self.opened = opened
        self.client = client
        self.server = server
    }

    /// Its frames.
    public var frames: [FrameEvent] { items.compactMap(\.frame) }

    /// When its last item was seen; if it has none, when it opened.
    package var lastTime: Timestamp { items.indices.last.map { items.time(at: $0) } ?? opened }
}

/// Which frame of a connection.
package struct FrameOrdinal: Hashable, Sendable {
    /// Who sent it.
    package var from: Direction
    /// Its place among the frames of its direction, from 0.
    package var index: Int

    /// A frame's place.
    package init(_ from: Direction, _ index: Int) { (self.from, self.index) = (from, index) }
}

/// A frame on a connection, or bytes that are not in one.
public enum RecordedItem: Hashable, Sendable {
    /// A frame. Indirect: lists of items are copied and grow, and a frame is large.
    indirect case frame(FrameEvent)
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

    /// The frame; otherwise nil.
    public var frame: FrameEvent? { if case .frame(let frame) = self { frame } else { nil } }
}
