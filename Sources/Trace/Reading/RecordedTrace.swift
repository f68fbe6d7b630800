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
    public var frames: [RecordedFrame] { connections.flatMap(\.frames) }
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
    public var findings: [RecordedFinding] = []
    /// How it ended.
    public var closing: RecordedClosing?

    /// A connection on which nothing was said.
    public init(number: Int, opened: Timestamp, client: String, server: String) {
        self.number = number
        self.opened = opened
        self.client = client
        self.server = server
    }

    /// Its frames.
    public var frames: [RecordedFrame] {
        items.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
    }
}

/// Something that was said on a connection, or could not be read.
public enum RecordedItem: Hashable, Sendable {
    /// A frame.
    case frame(RecordedFrame)
    /// Bytes that belong to no frame.
    case unframed(RecordedRun)
    /// Bytes that were not seen.
    case missing(RecordedRun)

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
    public var frame: RecordedFrame? { if case .frame(let frame) = self { frame } else { nil } }
}

/// A frame of a trace.
public struct RecordedFrame: Hashable, Sendable {
    /// The connection's number.
    public var connection: Int
    /// Who sent it.
    public var from: Direction
    /// Its place among the frames of its direction, from 0.
    public var index: Int
    /// When its last byte was seen.
    public var time: Timestamp
    /// When its first byte was seen.
    public var started: Timestamp
    /// Where it begins in its direction's stream.
    public var offset: Int
    /// How many bytes it has.
    public var length: Int
    /// In how many chunks it lay.
    public var segments: Int
    /// Whether it shared one of them.
    public var merged: Bool
    /// What the format calls it.
    public var type: String?
    /// Whether it is a heartbeat.
    public var isHeartbeat: Bool
    /// The head's fields: an object.
    public var fields: JSONValue
    /// The body: an object with its `length`, and one of `text`, `json`, `protobuf` and `hex`.
    public var body: JSONValue

    /// A frame of a trace.
    package init(
        connection: Int, from: Direction, index: Int, time: Timestamp, started: Timestamp, offset: Int, length: Int,
        segments: Int, merged: Bool, type: String?, isHeartbeat: Bool, fields: JSONValue, body: JSONValue
    ) {
        (self.connection, self.from, self.index) = (connection, from, index)
        (self.time, self.started, self.offset, self.length) = (time, started, offset, length)
        (self.segments, self.merged) = (segments, merged)
        (self.type, self.isHeartbeat, self.fields, self.body) = (type, isHeartbeat, fields, body)
    }

    /// The value of a field; nil where there is none of that name.
    public func field(_ name: String) -> JSONValue? { fields[name] }
    /// The body where it is text.
    public var text: String? { body["text"]?.string }
    /// The body where it is JSON.
    public var json: JSONValue? { body["json"] }
}

/// Bytes that are in no frame.
public struct RecordedRun: Hashable, Sendable {
    /// Whose bytes.
    public var from: Direction
    /// When.
    public var time: Timestamp
    /// Where they begin in their direction's stream.
    public var offset: Int
    /// How many.
    public var length: Int
    /// Why they are in no frame; empty for bytes that were not seen.
    public var reason = ""
    /// The bytes in hex; empty for bytes that were not seen.
    public var hex = ""

    /// Bytes that are in no frame.
    package init(
        from: Direction, time: Timestamp, offset: Int, length: Int, reason: String = "", hex: String = ""
    ) {
        (self.from, self.time, self.offset, self.length) = (from, time, offset, length)
        (self.reason, self.hex) = (reason, hex)
    }
}

/// What an analysis found.
public struct RecordedFinding: Hashable, Sendable {
    /// The kind, such as `heartbeat-gap`.
    public var kind: String
    /// How much it matters.
    public var severity: String
    /// Whose doing it is.
    public var from: Direction
    /// Its date.
    public var time: Timestamp
    /// For people.
    public var message: String
}

/// How a connection ended.
public struct RecordedClosing: Hashable, Sendable {
    /// When.
    public var time: Timestamp
    /// Why, such as `fin`.
    public var reason: String
    /// Who ended it; nil where nobody did.
    public var by: Direction?

    /// How a connection ended.
    package init(time: Timestamp, reason: String, by: Direction?) {
        (self.time, self.reason, self.by) = (time, reason, by)
    }
}
