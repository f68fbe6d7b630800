import Expressions
import Streams

/// What a frame's values are called in expressions.
///
///     type  from (client, server)  length  index  offset  segments  merged  missing  heartbeat
///     source  target               who it is from and for, as the head says
///     fields.NAME                  a field of the head
///     body.length  body.text       the body
///     body.json.a.b[0]             a value in a body that is JSON; body.json is all of it
///     body.protobuf.1.2            one in a Protobuf message, by the names or numbers that traces show
public struct FrameValues {
    /// Where the frame lies and when it was seen.
    public var info: FrameInfo
    /// Who sent it.
    public var direction: Direction
    /// Whether it is a heartbeat.
    public var isHeartbeat: Bool
    /// Its body, where it is decoded already.
    package var body: DecodedBody?

    /// The values of a frame.
    public init(info: FrameInfo, direction: Direction, isHeartbeat: Bool = false) {
        self.info = info
        self.direction = direction
        self.isHeartbeat = isHeartbeat
    }

    /// Whether a condition holds for the frame.
    public func fulfil(_ condition: Expression, bytes: RawSpan, format: DirectionFormat) -> Bool {
        let values = condition.paths.map { value(at: $0, bytes: bytes, format: format) }
        return condition.evaluate(Resolved(paths: condition.paths, values: values))
    }

    /// One value; absent where the frame has none of that name.
    public func value(at path: [String], bytes: RawSpan, format: DirectionFormat) -> Value {
        switch path[0] {
        case "type": return text(format.type(of: bytes, info.shape))
        case "source": return text(format.origin(of: bytes, info.shape))
        case "target": return text(format.target(of: bytes, info.shape))
        case "from": return .text(direction.sender)
        case "length": return .integer(Int64(info.length))
        case "index": return .integer(Int64(info.index))
        case "offset": return .integer(Int64(info.offset))
        case "segments": return .integer(Int64(info.segments))
        case "missing": return .integer(Int64(info.missing))
        case "merged": return .boolean(info.merged)
        case "heartbeat": return .boolean(isHeartbeat)
        case "fields" where path.count == 2:
            return format.field(path[1], of: bytes, info.shape).map(Value.init) ?? .absent
        case "body" where path.count >= 2: return body(Array(path.dropFirst()), bytes, format)
        default: return .absent
        }
    }

    private func body(_ path: [String], _ bytes: RawSpan, _ format: DirectionFormat) -> Value {
        if path == ["length"] { return .integer(Int64(info.shape.body)) }
        guard info.missing == 0 else { return .absent }
        let body = bytes.extracting(info.shape.head..<info.shape.head + info.shape.body)
        let decoded = self.body ?? format.body.decode(body, type: format.type(of: bytes, info.shape))
        return decoded.value(at: path, of: body).map(Value.init) ?? .absent
    }

    private func text(_ text: String?) -> Value { text.map(Value.text) ?? .absent }

    private struct Resolved: FieldSource {
        let paths: [[String]]
        let values: [Value]

        func value(at path: [String]) -> Value {
            paths.firstIndex(of: path).map { values[$0] } ?? .absent
        }
    }
}

extension Value {
    /// The value of a head's field, as expressions see it.
    init(_ field: FieldValue) {
        switch field {
        case .null: self = .absent
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .number(let value): self = .number(value)
        case .text(let text), .json(let text): self = .text(text)
        case .bytes(let bytes): self = .bytes(bytes)
        }
    }
}
