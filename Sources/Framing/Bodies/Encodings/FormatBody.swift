import Streams
import YAML

/// The encoding `format`: frames of another format, shown as a list. The format is one of the file's `formats`, or a built-in one.
///
///     body: [{ xor: { key: mask } }, { format: { name: chat } }]
///
/// Each frame is `{"type": …, "fields": …, "body": …}`, as in a trace; bytes that belong to no frame are `{"unframed": "…"}`.
struct FormatBody: BodyEncoding {
    static let name = "format"
    static let needsOptions = true
    static let keys = KeySection(
        "body.format", "[frames of another format](#another-protocol-inside), shown as JSON",
        [
            FormatKey(
                "name", .text("a format"), "one of the file's `formats`, a built-in format, or `example:NAME`",
                required: true)
        ])

    /// The name of bytes that belong to no frame.
    static let unframed = "unframed"

    /// The format; a box, since a format holds bodies.
    private final class Inner: Sendable {
        let format: Format
        init(_ format: Format) { self.format = format }
    }

    private let inner: Inner?
    private let side: Direction

    init(_ options: YAMLMap?) {
        side = options?.context.side ?? .fromClient
        guard let options, let name = options.requiredText("name") else {
            inner = nil
            return
        }
        inner = Self.format(name, options).map { Inner($0) }
    }

    private static func format(_ name: String, _ options: YAMLMap) -> Format? {
        let context = options.context
        if let own = context.formats[name] {
            guard context.nesting < 4 else {
                options.fault("formats nest too deeply", at: "name")
                return nil
            }
            return FormatLoader.inner(own, named: name, in: context)
        }
        do throws(FormatFileError) {
            if let format = try BuiltInFormats.format(named: name) { return format }
            if name.hasPrefix(ExampleFormats.prefix),
                let text = ExampleFormats.yaml(of: String(name.dropFirst(ExampleFormats.prefix.count)))
            {
                return try FormatLoader.load(text, file: name)
            }
        } catch {
            options.fault("\(name): \(error)", at: "name")
            return nil
        }
        let known = context.formats.keys.sorted() + BuiltInFormats.names
        options.fault("there is no format \(name); \(LoadContext.hint(name, known))", at: "name")
        return nil
    }

    /// The frames inside; nil if the file's format has faults.
    var innerSide: DirectionFormat? { inner?.format.directions[side] }

    var role: BodyRole { .meaning }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        guard let inner else { return .unchanged(.opaque) }
        let frames = InnerFrames(inner.format, side)
        let scratch = FramingScratch()
        var framer = Framer(rule: inner.format.directions[side].rule, direction: side, aligned: true)
        if input.byteCount > 0 {
            framer.receive(input, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: frames)
        }
        framer.finish(scratch: scratch, into: frames)
        var json: [UInt8] = []
        JSONValue.array(frames.list).write(into: &json)
        return .bytes(json, .json)
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        if case .bytes(let bytes) = content { return bytes }
        guard let inner, case .array(let frames) = JSONValue(compact: content.bytes.span.bytes) else {
            throw EncodingError("the body should be a list of frames")
        }
        var bytes: [UInt8] = []
        for frame in frames {
            if let raw = frame[Self.unframed] {
                guard let raw = raw.field?.rawBytes else {
                    throw EncodingError("unframed should be pairs of hex digits")
                }
                bytes += raw
                continue
            }
            let line = Array(frame.compactText.utf8)
            if let line = try FrameLine(parsing: line.span.bytes) { bytes += try inner.format.encode(line, from: side) }
        }
        return bytes
    }
}

/// Collects the frames inside a body.
private final class InnerFrames: FrameReceiver {
    private(set) var list: [JSONValue] = []
    private let format: DirectionFormat

    init(_ format: Format, _ side: Direction) { self.format = format.directions[side] }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        format.withContent(of: bytes, frame.shape) { content, shape in
            var members: [(String, JSONValue)] = []
            if let type = format.type(of: content, shape) { members.append(("type", .text(type))) }
            members.append(("fields", .fields(format.fields(of: content, shape))))
            let body = content.extracting(shape.head..<shape.head + shape.body)
            let decoded = format.decodeBody(of: content, shape)
            decoded.withBytes(of: body) { shown in
                members.append(("body", .members([Self.shown(shown, decoded.form)])))
            }
            if let kind = format.layouts[shape.layout].name { members.append(("layout", .text(kind))) }
            list.append(.members(members))
        }
    }

    private static func shown(_ bytes: RawSpan, _ form: DecodedBody.Form) -> (String, JSONValue) {
        switch form {
        case .json: ("json", JSONValue(compact: bytes))
        case .protobuf: ("protobuf", JSONValue(compact: bytes))
        case .fields: ("fields", JSONValue(compact: bytes))
        case .text: ("text", .text(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }))
        case .opaque: ("hex", JSONValue(.bytes(bytes.copied())))
        }
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        list.append(.members([(FormatBody.unframed, JSONValue(.bytes(run.bytes)))]))
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}
