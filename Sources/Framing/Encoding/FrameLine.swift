import Streams

/// A frame as a line of JSON: of a trace, or written by hand.
///
///     {"from":"client","type":"txt","fields":{"type":"txt"},"body":{"text":"Hello"},"layout":"long"}
///
/// All keys are optional. A body is one of `text`, `json`, `protobuf` and `hex`. `layout` names the kind of frame if a format has
/// several and the fields do not determine it. Keys specific to traces are ignored; in a line without `event`, others are errors.
package struct FrameLine: Sendable {
    /// Who sends it; nil if the line does not specify it.
    package private(set) var from: Direction?
    /// Which leg of its connection a trace shows it on; nil if the line does not specify it.
    package private(set) var leg: Leg?
    /// The type, which may decide how the body is encoded.
    package private(set) var type: String?
    /// The fields in the line's order.
    package private(set) var fields: [Field] = []
    /// The body before it is encoded.
    package private(set) var body = BodyContent.bytes([])
    /// The kind of frame.
    private(set) var layout: String?
    /// How many bytes the body has, as a trace says; nil if the line does not.
    private(set) var bodyLength: Int?

    /// The keys that are read, and those that only traces have.
    private static let keys = ["from", "type", "layout", "fields", "body"]
    private static let keysOfTraces: Set<String> = [
        "connection", "index", "time", "started", "offset", "length", "segments", "merged", "heartbeat",
    ]

    /// How deeply a body's JSON may nest.
    private static let deepest = 512

    /// Reads a line; nil if it is a line of a trace but not a frame.
    ///
    /// - Parameter others: keys that it may have for somebody else.
    package init?(parsing line: RawSpan, others: Set<String> = []) throws(EncodingError) {
        var (event, unknown): (String?, String?) = (nil, nil)
        for (key, member) in try Self.members(of: line, in: "the line") {
            switch key {
            case "event": event = member.value.plainText
            case "from": from = try Self.direction(member.value)
            case "leg": leg = try Self.leg(member.value)
            case "type": type = member.value.plainText
            case "layout": layout = try member.value.wanted(as: "layout")
            case "fields":
                for (name, field) in try Self.members(of: member.text.span.bytes, in: "fields") {
                    fields.removeAll { $0.name == name }
                    fields.append(Field(name, field.value))
                }
            case "body": (body, bodyLength) = try Self.body(member.text.span.bytes)
            default: if !Self.keysOfTraces.contains(key), !others.contains(key) { unknown = unknown ?? key }
            }
        }
        if event == nil, let unknown {
            throw EncodingError("a frame has no \(unknown); \(LoadContext.hint(unknown, Self.keys))")
        }
        guard event ?? "frame" == "frame" else { return nil }
        if fields.contains(where: { $0.value.hidesSecret }) { throw Self.secret("a field") }
    }

    private static func secret(_ what: String) -> EncodingError {
        EncodingError("\(what) is \(JSONRedaction.mark): the trace hides what it was")
    }

    private struct Member {
        var value: FieldValue
        var text: [UInt8]
    }

    private static func members(of text: RawSpan, in what: String) throws(EncodingError) -> [(String, Member)] {
        var members: [(String, Member)] = []
        var scanner = JSONScanner(depthLimit: deepest)
        do throws(JSONSyntaxError) {
            scanner.skipSpace(text)
            try scanner.members(text) { key, kind, range in
                let member = Member(value: JSONText.value(kind, range, in: text), text: text.copied(range))
                members.append((JSONText.string(key, in: text), member))
            }
            scanner.skipSpace(text)
            if !scanner.isAtEnd(text) { throw JSONSyntaxError(offset: scanner.position, expected: "the end") }
        } catch {
            throw EncodingError("\(what) should be a JSON object: \(error)")
        }
        return members
    }

    private static func direction(_ value: FieldValue) throws(EncodingError) -> Direction {
        if let direction = Direction.allCases.first(where: { .text($0.sender) == value }) { return direction }
        throw EncodingError("from is \(value.shortDescription); expected client or server")
    }

    private static func leg(_ value: FieldValue) throws(EncodingError) -> Leg {
        if let leg = Leg.allCases.first(where: { .text($0.rawValue) == value }) { return leg }
        throw EncodingError("leg is \(value.shortDescription); expected in or out")
    }

    private static func body(_ text: RawSpan) throws(EncodingError) -> (BodyContent, length: Int?) {
        var content: BodyContent?
        var length: Int?
        for (key, member) in try members(of: text, in: "body") {
            switch key {
            case "text":
                let text = try member.value.wanted(as: "body.text")
                if text == JSONRedaction.mark { throw secret("the body") }
                content = .text(text)
            case "json": content = .json(member.text)
            case "protobuf": content = .protobuf(member.text)
            case "fields": content = .fields(member.text)
            case "hex":
                guard case .text = member.value, let bytes = member.value.rawBytes else {
                    throw EncodingError("body.hex is \(member.value.shortDescription); expected pairs of hex digits")
                }
                content = .bytes(bytes)
            case "length": if case .integer(let number) = member.value { length = Int(number) }
            case "missing": throw EncodingError("the frame has a gap: some of its bytes were not seen")
            case "truncated":
                throw EncodingError("the body was cut when it was traced; trace it with a higher --body-limit")
            default: throw EncodingError("body has no \(key); known are text, json, protobuf, fields and hex")
            }
        }
        switch content {
        case .json(let text), .protobuf(let text), .fields(let text):
            if text.span.bytes.hidesSecret { throw secret("the body") }
        case .text, .bytes, nil: break
        }
        if content == nil, length ?? 0 > 0 {
            throw EncodingError("the body was left out when it was traced; trace it with a higher --body-limit")
        }
        return (content ?? .bytes([]), length)
    }
}

extension FieldValue {
    /// Whether a trace hides it, or a value in it.
    fileprivate var hidesSecret: Bool {
        switch self {
        case .text(let text): text == JSONRedaction.mark
        case .json(let text): Array(text.utf8).span.bytes.hidesSecret
        case .null, .boolean, .integer, .unsigned, .number, .bytes: false
        }
    }

    fileprivate func wanted(as name: String) throws(EncodingError) -> String {
        if case .text(let text) = self { return text }
        throw EncodingError("\(name) is \(shortDescription); expected text")
    }
}

extension RawSpan {
    /// Whether this is JSON in which a trace hides a value.
    fileprivate var hidesSecret: Bool {
        var tokens = JSONTokens()
        do throws(JSONSyntaxError) {
            while let token = try tokens.next(self) {
                guard case .scalar(.string(let escaped), let range) = token else { continue }
                if JSONText.string(range, escaped: escaped, in: self) == JSONRedaction.mark { return true }
            }
        } catch {
            // Who encodes it reports that it is no JSON.
            return false
        }
        return false
    }
}

extension Format {
    /// The bytes of a frame, with lengths, constants, padding and checksums filled in.
    package func encode(_ line: FrameLine, from direction: Direction) throws(EncodingError) -> [UInt8] {
        let side = directions[direction]
        for field in line.fields where !side.layouts.contains(where: { $0.has(field.name) }) {
            let known = side.layouts.flatMap(\.fieldNames)
            let hint = known.isEmpty ? "it has no fields" : LoadContext.hint(field.name, known)
            throw EncodingError("the format has no field \(field.name); \(hint)")
        }
        return try side.encode(line)
    }
}

extension FrameLayout {
    /// The names that the encoder accepts; none if the head accepts any.
    var fieldNames: [String] {
        (head?.names ?? []) + (trailer?.names ?? []) + rule.noted
    }

    func has(_ name: String) -> Bool {
        if let head, head.names == nil { return true }
        return fieldNames.contains(name)
    }
}
