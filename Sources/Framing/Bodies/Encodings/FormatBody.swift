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

    private var inner: Inner?
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

    /// The format's secrets, and those of formats inside its frames.
    var secrets: [Secret] { inner?.format.secrets ?? [] }

    /// Whether the format has secrets.
    var hasSecrets: Bool { inner?.format.secrets.isEmpty == false }

    func keyNames(default name: String) -> [String] { inner?.format.bodyKeyNames ?? [] }

    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        guard var format = inner?.format else { return }
        try format.use(resources)
        inner = Inner(format)
    }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        guard let inner else { return .unchanged(.opaque) }
        let frames = InnerFrames(inner.format, side)
        let scratch = FramingScratch()
        var framer = Framer(rule: inner.format.directions[side].rule, direction: side, aligned: true)
        if input.byteCount > 0 {
            framer.receive(input, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: frames)
        }
        framer.finish(scratch: scratch, into: frames)
        if frames.isCut {
            return .fault(
                .badBody, "there are more than \(InnerFrames.most) frames inside, or they take more than 16 MiB")
        }
        func json(_ list: [JSONValue]) -> [UInt8] {
            var json: [UInt8] = []
            JSONValue.array(list).write(into: &json)
            return json
        }
        return .redactable(json(frames.list), .json, redacted: frames.redacted.map(json))
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
    /// At most this many frames are shown, and these many bytes of them: a few compressed bytes may be very many.
    static let most = 65_536
    private static let mostBytes = 16 << 20

    private(set) var list: [JSONValue] = []
    /// The same without secrets; nil while there are none.
    private(set) var redacted: [JSONValue]?
    /// Whether there are more.
    private(set) var isCut = false
    private var byteCount = 0
    private let format: DirectionFormat
    private let secrets: [Secret]
    private let side: Direction

    init(_ format: Format, _ side: Direction) {
        (self.format, secrets, self.side) = (format.directions[side], format.secrets, side)
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        guard hasRoom(for: bytes.byteCount) else { return }
        format.withContent(of: bytes, frame.shape) { content, shape in
            var members: [(String, JSONValue)] = []
            if let type = format.type(of: content, shape) { members.append(("type", .text(type))) }
            members.append(("fields", .fields(format.fields(of: content, shape))))
            let body = content.extracting(shape.head..<shape.head + shape.body)
            let decoded = format.decodeBody(of: content, shape)
            let place = members.count
            decoded.withBytes(of: body) { shown in
                byteCount += shown.byteCount
                // Of what could not be decoded, and of what was decoded to nothing, the length tells how it is written.
                let isUnread = decoded.form == .opaque && !decoded.faults.isEmpty
                let needsLength = isUnread || shown.byteCount == 0 && shape.body > 0
                let length: [(String, JSONValue)] = needsLength ? [("length", .integer(shape.body))] : []
                members.append(("body", .members(length + [Self.shown(shown, decoded.form)])))
            }
            if let kind = format.layouts[shape.layout].name { members.append(("layout", .text(kind))) }
            // Frames of yet another format, or fields with such frames.
            let redacted = decoded.redacted.map { bytes in
                var members = members
                members[place].1 = .members([Self.shown(bytes.span.bytes, decoded.form)])
                return JSONValue.members(members)
            }
            var values = FrameValues(info: frame, direction: side)
            values.body = decoded
            let paths = SecretPaths(secrets, from: side) {
                values.fulfil($0, content: content, shape: shape, format: format)
            }
            append(.members(members), redacted: redacted, hiding: Self.places(paths, decoded))
        }
    }

    /// Where the secrets of a frame are in what is shown of it.
    private static func places(_ paths: SecretPaths, _ body: DecodedBody) -> [[String]] {
        let isBytes = body.form == .opaque || body.form == .text
        let isUnread = body.faults.contains { $0.kind != .wrongKey }
        // Only what was read has such bytes.
        let leftovers = [StructureWalk.rest, StructuredHead.raw, FormatBody.unframed]
        var places = paths.fields.map { ["fields"] + $0 }
        // A header as it came has the secrets of its fields.
        if !places.isEmpty { places.append(["fields", StructuredHead.raw]) }
        for path in paths.body {
            let inside = path.first.map(BodyFormat.isForm) == true ? Array(path.dropFirst()) : path
            // Where secrets are in bytes, or in a text, is not known.
            if inside.isEmpty || isBytes && (isUnread || !leftovers.contains(inside[inside.count - 1])) {
                places.append(["body"])
            } else if !isBytes {
                places += ["json", "protobuf", "fields"].map { ["body", $0] + inside }
            }
        }
        return places
    }

    /// Adds a frame.
    ///
    /// - Parameters:
    ///   - known: the frame without the secrets of formats inside it; nil if it has none.
    ///   - places: where its other secrets are.
    private func append(_ frame: JSONValue, redacted known: JSONValue? = nil, hiding places: [[String]]) {
        if redacted == nil, known != nil || !places.isEmpty { redacted = list }
        list.append(frame)
        guard redacted != nil else { return }
        let frame = known ?? frame
        guard !places.isEmpty else {
            redacted?.append(frame)
            return
        }
        var redaction = JSONRedaction(places, ignoringCase: true, hidingUnread: true)
        let text = Array(frame.compactText.utf8)
        let shown = redaction.of(text.span.bytes).map { JSONValue(compact: $0.span.bytes) }
        redacted?.append(shown ?? .text(JSONRedaction.mark))
    }

    private func hasRoom(for count: Int) -> Bool {
        byteCount += count
        isCut = isCut || list.count >= Self.most || byteCount > Self.mostBytes
        return !isCut
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
        guard hasRoom(for: run.byteCount) else { return }
        // Bytes that belong to no frame may hold secrets of one.
        append(
            .members([(FormatBody.unframed, JSONValue(.bytes(run.bytes)))]),
            hiding: secrets.isEmpty ? [] : [[FormatBody.unframed]])
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}
