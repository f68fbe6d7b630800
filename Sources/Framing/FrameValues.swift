import Expressions
import Streams

/// The names of a frame's values in expressions.
///
///     type  from (client, server)  length  index  offset  segments  merged  missing  heartbeat
///     source  target               its source and target, from the head or body
///     nth                          in rules: its number among its sender's frames of the same type, from 1
///     fields.NAME                  a field of the head
///     body.length  body.text       the body
///     body.json.a.b[0]             a value in a body that is JSON; body.json is all of it
///     body.protobuf.1.2            one in a Protobuf message, by the names or numbers that traces show
package struct FrameValues {
    /// Where the frame is and when it was seen.
    package var info: FrameInfo
    /// Who sent it.
    package var direction: Direction
    /// Whether it is a heartbeat.
    package var isHeartbeat: Bool
    /// Its number among its sender's frames of the same type, from 1; nil where frames are not counted.
    package var nth: Int?
    /// Its body, if already decoded.
    package var body: DecodedBody?
    /// Its fields as they are shown, if some are secret and a condition must not find out more; nil if it may.
    package var shownFields: [Field]?
    /// The values of the request that it answers, where they are known.
    var request: StructureScope?
    /// Its connection, where a condition selects from a trace.
    package var connection: ConnectionValues?

    /// What conditions that select from a trace may ask of a frame's connection.
    package struct ConnectionValues {
        let number: Int
        let client: any CustomStringConvertible
        let server: any CustomStringConvertible
        /// The frame's time as text, without the Z: a shorter text comes before every instant that it begins.
        let time: () -> String

        /// - Parameters:
        ///   - number: in the trace, from 1.
        ///   - client: its address, or the text of it.
        ///   - server: likewise.
        ///   - time: makes the text of the frame's time.
        package init(
            number: Int, client: any CustomStringConvertible, server: any CustomStringConvertible,
            time: @escaping () -> String
        ) {
            (self.number, self.client, self.server, self.time) = (number, client, server, time)
        }

        /// The frame's time.
        package var timeText: Value { .text(time()) }

        /// What a connection's values are called. `client` and `server` alone are the sides that `from` names.
        static let names = ["client", "server"]

        /// Its number, or one of its ends.
        package func value(at path: ArraySlice<String>) -> Value {
            switch path {
            case []: .integer(Int64(number))
            case ["client"]: .text(client.description)
            case ["server"]: .text(server.description)
            default: .absent
            }
        }
    }

    /// The values of a frame.
    package init(info: FrameInfo, direction: Direction, isHeartbeat: Bool = false) {
        self.info = info
        self.direction = direction
        self.isHeartbeat = isHeartbeat
    }

    /// Whether the frame's type is being determined, so that nothing may refer to it.
    private var isNamingType = false

    /// The values that a frame's type can depend on.
    init(naming shape: FrameShape) {
        self.init(info: FrameInfo(of: shape), direction: .fromClient)
        isNamingType = true
    }

    /// The first names of all paths.
    static let names =
        ["type", "from", "length", "index", "offset", "segments", "merged", "missing", "heartbeat", "source", "target"]
        + ["fields", "body"]

    /// The first names that conditions on a trace's frames have in addition.
    static let namesInTraces = ["connection", "time"]

    /// The error in a value's path; nil if frames may have it.
    ///
    /// - Parameter inTrace: whether the condition selects from a trace, so that it may ask for the connection and the time.
    package static func complaint(about path: [String], inTrace: Bool = false) -> String? {
        let names = inTrace ? self.names + namesInTraces : self.names
        guard let first = path.first else { return nil }
        if inTrace, first == "connection", path.count > 1, !ConnectionValues.names.contains(path[1]) {
            return "there is no value connection.\(path[1]); \(LoadContext.hint(path[1], ConnectionValues.names))"
        }
        if path.count == 1, first == "body" {
            return "body alone is no value; expected a part of it: body.length, body.text, body.json.…, body.protobuf.…"
        }
        if first == "body", let misspelling = BodyFormat.misspelling(in: Array(path.dropFirst())) { return misspelling }
        if path.count == 1, first == "fields" { return "fields alone is no value; expected fields.NAME" }
        guard !names.contains(first) else { return nil }
        let complaint = "there is no value \(first); \(LoadContext.hint(first, names))"
        // A word that resembles none of them is probably what a value is compared with.
        let isText = path.count == 1 && LoadContext.nearest(first, names) == nil
        return isText ? "\(complaint); text stands in quotes: \"\(first)\"" : complaint
    }

    /// The fields that frames of these kinds have; nil if they may have any, as with JSON heads.
    static func fields(of layouts: [FrameLayout], _ rule: any FramingRule) -> Set<String>? {
        var known = Set(rule.noted)
        for layout in layouts {
            if let head = layout.head, !(head is BinaryHead) {
                guard let names = head.names else { return nil }
                known.formUnion(names)
            }
            for field in ((layout.head as? BinaryHead)?.fields ?? []) + (layout.trailer?.fields ?? []) {
                known.insert(field.name)
                known.formUnion(field.bits.map(\.name))
            }
        }
        return known
    }

    /// The error in a value's path that no frame of a format has; nil if some may have it.
    ///
    /// - Parameters:
    ///   - fields: the existing ones; nil if there may be any.
    ///   - bodies: how bodies are decoded, of frames of any kind; nil if that is not known.
    static func complaint(about path: [String], fields: Set<String>?, bodies: [BodyFormat]?) -> String? {
        if path.first == "fields", path.count >= 2, let fields, !fields.contains(path[1]) {
            return fields.isEmpty
                ? "there is no field \(path[1]): the format has no header"
                : "there is no field \(path[1]); \(LoadContext.hint(path[1], fields.sorted()))"
        }
        guard path.first == "body", path.count >= 2, path[1] != "length", let bodies else { return nil }
        if bodies.allSatisfy(\.isOpaque) {
            return "bodies are hex, so there is no \(path.joined(separator: ".")); body.length is known, "
                + "and body: text (or json, …) in the format decodes them"
        }
        return BodyFormat.complaint(naming: Array(path.dropFirst()), in: bodies)
    }

    /// The error in a value's path that no frame of any of these formats has; nil if some may have it.
    package static func complaint(about path: [String], in formats: [Format]) -> String? {
        var fields: Set<String>? = []
        for format in formats where format.isFramed {
            for side in [format.directions.fromClient, format.directions.fromServer] {
                fields = fields.flatMap { all in self.fields(of: side.layouts, side.rule).map { all.union($0) } }
            }
        }
        let bodies = formats.filter(\.isFramed).flatMap { format in
            Direction.allCases.flatMap { format.directions[$0].bodies }
        }
        return complaint(about: path, fields: fields, bodies: bodies)
    }

    /// Whether a condition holds for the frame.
    ///
    /// - Parameters:
    ///   - content: the frame's content, with escapes resolved.
    ///   - shape: the content's parts.
    package func fulfil(
        _ condition: Expression, content: RawSpan, shape: FrameShape, format: DirectionFormat
    ) -> Bool {
        // A value is computed once, and only if the condition's truth depends on it: a body need not be decoded for a type.
        var known = [Value?](repeating: nil, count: condition.paths.count)
        let truth = condition.truth { path in
            if let value = known[path] { return value }
            let value = value(at: condition.paths[path], content: content, shape: shape, format: format)
            known[path] = value
            return value
        }
        return truth ?? false
    }

    /// One value; absent if the frame has none of that name.
    package func value(at path: [String], content: RawSpan, shape: FrameShape, format: DirectionFormat) -> Value {
        switch path[0] {
        case "type": return text(format.type(of: content, shape))
        case "source": return text(format.origin(of: content, shape))
        case "target": return text(format.target(of: content, shape))
        case "from": return .text(direction.sender)
        case "length": return .integer(Int64(info.length))
        case "index": return .integer(Int64(info.index))
        case "offset": return .integer(Int64(info.offset))
        case "segments": return .integer(Int64(info.segments))
        case "missing": return .integer(Int64(info.missing))
        case "merged": return .boolean(info.merged)
        case "heartbeat": return .boolean(isHeartbeat)
        case "nth" where nth != nil: return .integer(Int64(nth ?? 0))
        case "fields" where path.count == 2:
            return field(path[1], content, shape, format).map(Value.init) ?? .absent
        case "fields" where path.count > 2:
            guard case .json(let text)? = field(path[1], content, shape, format) else { return .absent }
            return FieldValue.inside(text, at: path.dropFirst(2)).map(Value.init) ?? .absent
        case "body" where path.count >= 2: return body(Array(path.dropFirst()), content, shape, format)
        case "request": return request?.value(at: path) ?? .absent
        case "connection" where connection != nil: return connection?.value(at: path.dropFirst()) ?? .absent
        case "time" where connection != nil: return connection?.timeText ?? .absent
        // Where a condition may name a field alone.
        default: return path.count == 1 ? field(path[0], content, shape, format).map(Value.init) ?? .absent : .absent
        }
    }

    private func field(
        _ name: String, _ content: RawSpan, _ shape: FrameShape, _ format: DirectionFormat
    ) -> FieldValue? {
        guard let shownFields else { return format.field(name, of: content, shape) }
        return shownFields.first { $0.name == name }?.value
    }

    private func body(_ path: [String], _ content: RawSpan, _ shape: FrameShape, _ format: DirectionFormat) -> Value {
        if path == ["length"] { return .integer(Int64(shape.body + info.streamed)) }
        guard info.missing == 0 else { return .absent }
        let bytes = content.extracting(shape.head..<shape.head + shape.body)
        let decoded = body ?? format.decodeBody(of: content, shape, isTyped: !isNamingType)
        return decoded.value(atShort: path, of: bytes).map(Value.init) ?? .absent
    }

    private func text(_ text: String?) -> Value { text.map(Value.text) ?? .absent }
}

extension Value {
    /// The value of a head's field, for expressions.
    package init(_ field: FieldValue) {
        switch field {
        case .null: self = .absent
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .number(let value): self = .number(value)
        case .text(let text): self = .text(text)
        // A number of more digits than a Double has.
        case .json(let text): self = field.double.map(Value.number) ?? .text(text)
        case .bytes(let bytes): self = .bytes(bytes)
        }
    }
}
