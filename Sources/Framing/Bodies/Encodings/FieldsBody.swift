import Streams
import YAML

/// The encoding `fields`: a structure, shown as JSON.
///
///     body: { fields: [{ topic: { type: string, size: u16 } }, { payload: { type: bytes, size: rest } }] }
///
/// Sizes and conditions may refer to the header's fields. Bytes after the last item are shown as `rest`; a body that ends inside a
/// list, or that has a number that JSON cannot hold or a body that could not be decoded, as it came, too, as `raw`.
struct FieldsBody: BodyEncoding {
    static let name = "fields"
    static let needsOptions = true
    static let keys: KeySection = KeySection(
        "body.fields", "[a structure](#structured-bodies), shown as JSON",
        [
            FormatKey(
                "of", .shared(StructureKeys.sequence),
                "its items; a list or a type's name in place of the mapping says the same", required: true)
        ])
    static let short: KeyValue? = .shared(StructureKeys.sequence)

    /// What a body consists of.
    private(set) var structure: Structure

    /// Whether frames of another format are in its fields, which has secrets of its own.
    let hasInnerSecrets: Bool

    init(_ options: YAMLMap?) {
        guard let options, let list = options["of"] else {
            options?.fault("fields lacks the list of its fields")
            structure = Structure(sequences: [Structure.Sequence()])
            hasInnerSecrets = false
            return
        }
        let loader = StructureLoader(
            context: options.context, order: options.context.bodyOrder, outside: options.context.headNames)
        structure = loader.structure(list, path: options.path, isBounded: true)
        hasInnerSecrets = structure.bodies.contains(where: \.hasInnerSecrets)
    }

    var role: BodyRole { [.meaning, .readsHead] }

    func keyNames(default name: String) -> [String] { structure.bodies.flatMap { $0.keyNames(default: name) } }

    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        try structure.use(resources, defaultKey: defaultKey)
    }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        var walk = StructureWalk(scope: StructureScope(context.head))
        var values = StructureValues()
        switch walk.go(structure, input, end: input.byteCount, isBody: true, &values) {
        case .complete: break
        case .incomplete: return .fault(.badBody, "the body ends inside a field")
        case .bad(let message): return .fault(.badBody, message)
        }
        if let fault = walk.fault { return .fault(.badBody, fault) }
        if values.isCut { return .fault(.badBody, "the body has more than \(StructureValues.most) values") }
        var fields = values.fields
        let isLossy = values.isLossy || walk.hasUnreadBodies
        if hasRaw, isLossy || walk.isBroken && !isWritten(fields, input, context) {
            fields.append(Field(StructuredHead.raw, .bytes(input.copied())))
        }
        let json = Self.json(fields)
        return hasInnerSecrets ? .redactable(json, .fields, redacted: redacted(input, context)) : .bytes(json, .fields)
    }

    private static func json(_ fields: [Field]) -> [UInt8] {
        var json: [UInt8] = []
        JSONOutput.object(fields, into: &json)
        return json
    }

    /// The fields without the secrets of frames in them. Read again: what is hidden may have any length.
    private func redacted(_ input: RawSpan, _ context: BodyContext) -> [UInt8] {
        var walk = StructureWalk(scope: StructureScope(context.head))
        walk.hidesSecrets = true
        var values = StructureValues()
        _ = walk.go(structure, input, end: input.byteCount, isBody: true, &values)
        return Self.json(values.fields)
    }

    /// Whether values are written as these bytes: those of a list that ends with the body, in the middle of an element, are not.
    private func isWritten(_ fields: [Field], _ bytes: RawSpan, _ context: BodyContext) -> Bool {
        let written = try? StructureWriter.write(structure, fields, head: context.head, isBody: true, body: nil)
        return written.map { bytes.elementsEqual($0.span.bytes) } ?? false
    }

    /// Whether a body that would be written in another way is shown as it came, too.
    private var hasRaw: Bool { !structure.names.contains(StructuredHead.raw) }

    /// The bytes that came with values, if they still are those of these values.
    private func raw(_ members: [JSONValue.Member], _ context: BodyContext) -> [UInt8]? {
        guard hasRaw, let bytes = members.last(where: { $0.name == StructuredHead.raw })?.value.field?.rawBytes else {
            return nil
        }
        let text: [UInt8]
        switch decode(bytes.span.bytes, context) {
        case .bytes(let json, _), .redactable(let json, _, _): text = json
        case .unchanged, .locked, .fault: return nil
        }
        guard case .object(let read) = JSONValue(compact: text.span.bytes) else { return nil }
        return JSONValue.object(read).compactText == JSONValue.object(members).compactText ? bytes : nil
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        try encode(content, BodyContext(type: type))
    }

    func encode(_ content: BodyContent, _ context: BodyContext) throws(EncodingError) -> [UInt8] {
        switch content {
        case .bytes(let bytes): return bytes
        case .text, .protobuf: throw EncodingError("the body should be fields, as a JSON object")
        case .json(let text), .fields(let text):
            guard case .object(let members) = JSONValue(compact: text.span.bytes) else {
                throw EncodingError("the body should be fields, as a JSON object")
            }
            if let raw = raw(members, context) { return raw }
            let fields = members.filter { !hasRaw || $0.name != StructuredHead.raw }.map {
                Field($0.name, $0.value.field ?? .null)
            }
            return try StructureWriter.write(structure, fields, head: context.head, isBody: true, body: nil)
        }
    }
}
