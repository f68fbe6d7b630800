import Expressions
import Streams

/// A wire format: everything a format file says, checked and ready to use.
public struct Format: Sendable {
    /// The name, as `--format` takes it and traces show it.
    public var name: String
    /// What it is, in a line.
    public var summary: String
    /// The servers' usual ports.
    public var ports: [UInt16]
    /// What each direction's frames are like.
    public var directions: PerDirection<DirectionFormat>
    /// How it is recognised by its bytes; nil where it has to be asked for.
    public var detection: Detection?
    /// Who sends heartbeats, and how often; nil where nobody does.
    public var heartbeat: HeartbeatContract?

    /// How a format is recognised by its bytes alone.
    public struct Detection: Hashable, Sendable {
        /// How many frames must chain.
        public var frames: Int
        /// What was recognised, for people.
        public var evidence: String
    }
}

/// What the frames of one direction are like.
public struct DirectionFormat: Sendable {
    /// How to tell where a frame ends.
    public var rule: any FramingRule
    /// How the head's fields lie; nil where there is no head.
    public var head: (any Head)?
    /// The field that names a frame's type.
    public var typeField: String?
    /// The field that names who a frame is from.
    public var fromField: String?
    /// The field that names who a frame is for.
    public var toField: String?
    /// How the body is to be read.
    package var body: BodyFormat

    /// The name of a frame's type; nil where the format has none for it.
    public func type(of frame: RawSpan, _ shape: FrameShape) -> String? {
        text(of: typeField, in: frame, shape)
    }

    /// Who a frame is from, as its head says.
    public func origin(of frame: RawSpan, _ shape: FrameShape) -> String? {
        text(of: fromField, in: frame, shape)
    }

    /// Who a frame is for, as its head says.
    public func target(of frame: RawSpan, _ shape: FrameShape) -> String? {
        text(of: toField, in: frame, shape)
    }

    /// The fields of a frame's head, in the order traces show them.
    public func fields(of frame: RawSpan, _ shape: FrameShape) -> [Field] {
        head?.fields(of: frame.extracting(0..<shape.head)) ?? []
    }

    /// One field of a frame's head.
    public func field(_ name: String, of frame: RawSpan, _ shape: FrameShape) -> FieldValue? {
        head?.field(name, of: frame.extracting(0..<shape.head))
    }

    /// The bytes of a frame with these fields and this body; lengths are filled in.
    public func encode(_ fields: [Field], body: [UInt8]) throws(EncodingError) -> [UInt8] {
        let head = try head?.encode(fields, body: body.count) ?? []
        return rule.encode(head: head, body: body)
    }

    private func text(of field: String?, in frame: RawSpan, _ shape: FrameShape) -> String? {
        guard let field, let value = self.field(field, of: frame, shape) else { return nil }
        switch value {
        case .null, .bytes: return nil
        case .text(let text): return text
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .number(let value): return String(value)
        case .json(let text): return text
        }
    }
}

/// What a format promises of heartbeats.
public struct HeartbeatContract: Sendable {
    /// What a heartbeat is.
    public var condition: Expression
    /// Who sends them.
    public var from: Direction
    /// How often.
    public var every: Interval
    /// After how long without one there is a gap.
    public var gap: Interval

    /// What a format promises of heartbeats.
    public init(condition: Expression, from: Direction, every: Interval, gap: Interval) {
        self.condition = condition
        self.from = from
        self.every = every
        self.gap = gap
    }
}
