import Framing
import Streams

/// The parts of a frame to redact.
package struct FrameSecrets {
    private var paths: SecretPaths
    /// Whether any field may be a secret.
    private let hidesAllFields: Bool

    /// The secrets that a format has in a frame with these bytes.
    package init(of frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds) {
        defer { if frame.isSecret { paths.hideBody() } }
        hidesAllFields = frame.isChanged && kinds.secrets.contains { $0.path.first == "fields" }
        if let kind = frame.kind, let known = kinds.kinds[kind].secrets {
            paths = known
            return
        }
        var values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
        values.body = frame.body
        paths = SecretPaths(kinds.secrets, from: frame.direction) {
            values.fulfil($0, content: bytes, shape: frame.shape, format: kinds.format)
        }
    }

    /// Whether a field may be secret.
    var hidesFields: Bool { hidesAllFields || !paths.fields.isEmpty }

    /// Whether the value at a place, or something in it, is secret in a frame.
    package static func hide(_ place: ValuePlace, of frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds) -> Bool
    {
        if !frame.isSecret {
            // Most kinds tell, and nothing of them is copied.
            let isShown =
                switch place {
                case .field, .inField: kinds.hidesNoField(frame.kind)
                case .body: kinds.hidesNothing(frame.kind)
                }
            if isShown { return false }
        }
        return FrameSecrets(of: frame, bytes, kinds).hides(place)
    }

    private func hides(_ place: ValuePlace) -> Bool {
        switch place {
        case .field(let name): return hidesAllFields || paths.fields.contains { $0[0] == name }
        case .inField(let path): return hidesAllFields || paths.fields.contains { Self.overlap($0[...], path[...]) }
        case .body(let path):
            // The form may be left out: `user` is short for `json.user`.
            func short(_ path: [String]) -> ArraySlice<String> {
                path.first.map(BodyFormat.isForm) == true ? path.dropFirst() : path[...]
            }
            return paths.body.contains { Self.overlap(short($0), short(path)) }
        }
    }

    /// Whether a place may be inside a secret, or a secret inside it: as in redaction, a name applies to all elements of
    /// a list, and names may be in another case.
    private static func overlap(_ secret: ArraySlice<String>, _ place: ArraySlice<String>) -> Bool {
        guard let name = secret.first, let step = place.first else { return true }
        if name.lowercased() == step.lowercased(), overlap(secret.dropFirst(), place.dropFirst()) { return true }
        switch (isElement(name), isElement(step)) {
        case (false, false): return false
        case (false, true): return overlap(secret, place.dropFirst())
        case (true, false): return secret.count > 1 && overlap(secret.dropFirst(), place)
        case (true, true):
            // A selector may find any element; other indices are other elements, or other fields of a Protobuf message.
            let mayBeSame = Int(name) == nil || Int(step) == nil
            return mayBeSame && overlap(secret.dropFirst(), place.dropFirst())
                || place.count > 1 && overlap(secret, place.dropFirst())
        }
    }

    /// Whether a component is an index into a list, or selects elements by a member: `tag=9`.
    private static func isElement(_ component: String) -> Bool { Int(component) != nil || component.contains("=") }

    /// The fields, with secret ones redacted.
    func shown(_ fields: [Field]) -> [Field] {
        if hidesAllFields { return fields.map { Field($0.name, .text(JSONRedaction.mark)) } }
        guard !paths.fields.isEmpty else { return fields }
        return fields.map { field in
            let own = paths.fields.filter { $0[0] == field.name }
            // A header as it came has the secrets of its fields.
            if own.contains(where: { $0.count == 1 }) || field.name == StructuredHead.raw {
                return Field(field.name, .text(JSONRedaction.mark))
            }
            guard !own.isEmpty else { return field }
            guard case .json(let text) = field.value else {
                switch field.value {
                // A body in the field that could not be read.
                case .text, .bytes: return Field(field.name, .text(JSONRedaction.mark))
                case .null, .boolean, .integer, .unsigned, .number, .json: return field
                }
            }
            var redaction = JSONRedaction(
                own.map { Array($0.dropFirst()) }, ignoringCase: true, hidingUnread: true)
            let bytes = Array(text.utf8)
            guard let shown = redaction.of(bytes.span.bytes) else {
                return Field(field.name, .text(JSONRedaction.mark))
            }
            return Field(field.name, .json(String(decoding: shown, as: UTF8.self)))
        }
    }

    /// The body, with secrets redacted.
    ///
    /// - Parameter bytes: the body's bytes as received.
    func shown(_ body: DecodedBody, of bytes: RawSpan) -> DecodedBody { body.redacting(paths.body, of: bytes) }

    /// Whether the bytes of a frame may be shown as they are.
    package static func mayDump(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds) -> Bool {
        let secrets = FrameSecrets(of: frame, bytes, kinds)
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        return secrets.mayDumpHead(kinds.format.fields(of: bytes, frame.shape))
            && secrets.mayDump(frame.decodedBody(of: bytes, kinds), of: body)
    }

    /// Whether something of a frame is redacted.
    package static func hidesAnything(of frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds) -> Bool {
        let secrets = FrameSecrets(of: frame, bytes, kinds)
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        return !secrets.mayDumpHead(kinds.format.fields(of: bytes, frame.shape))
            || secrets.shown(frame.decodedBody(of: bytes, kinds), of: body).hasMark(of: body)
    }

    /// Whether the bytes of a head may be shown as they are.
    ///
    /// - Parameter fields: the head's own, secret ones included.
    func mayDumpHead(_ fields: [Field]) -> Bool {
        if hidesAllFields { return fields.isEmpty }
        return paths.fields.isEmpty || !fields.contains { $0.name == StructuredHead.raw || hasSecret($0) }
    }

    private func hasSecret(_ field: Field) -> Bool {
        let own = paths.fields.filter { $0[0] == field.name }
        guard !own.isEmpty else { return false }
        guard case .json(let text) = field.value, !own.contains(where: { $0.count == 1 }) else {
            return shown([field]) != [field]
        }
        let value = JSONValue(compact: Array(text.utf8).span.bytes)
        return own.contains { value.inside($0.dropFirst()) != nil } || shown([field]) != [field]
    }

    /// Whether the bytes of a body may be shown as they are: it has no secrets, or no one can read it.
    package func mayDump(_ body: DecodedBody, of bytes: RawSpan) -> Bool {
        if paths.body.isEmpty { return true }
        let shown = body.redacting(paths.body, of: bytes)
        switch body.form {
        case .opaque: return shown.form == .opaque
        // All of it was read.
        case .json: return shown.form == .json && !shown.hasMark(of: bytes)
        // Bytes that were not read may be among those of others.
        case .text, .protobuf, .fields: return false
        }
    }
}

extension DecodedBody {
    /// Whether something of it was replaced.
    fileprivate func hasMark(of bytes: RawSpan) -> Bool {
        let mark = Array(JSONRedaction.mark.utf8)
        return withBytes(of: bytes) { $0.firstRange(of: mark, from: 0) != nil }
    }
}
