import Streams

/// A decoded body.
package struct DecodedBody: Sendable, Hashable {
    /// The form of its bytes.
    package enum Form: Hashable, Sendable {
        /// Valid UTF-8.
        case text
        /// Compact JSON.
        case json
        /// A Protobuf message as compact JSON.
        case protobuf
        /// The fields of a structured body as compact JSON.
        case fields
        /// Nothing more is known of them.
        case opaque
    }

    /// The form of the bytes.
    package var form: Form
    /// The bytes; nil if they are the body's own, so that nothing was copied.
    package var bytes: [UInt8]?
    /// The bytes without the secrets that the formats of frames inside declare; nil if they are the same.
    var redacted: [UInt8]?
    /// The body's faults. A faulty body is shown in hex as received, or as text if readable.
    package var faults: [BodyFault] = []

    /// A body of that form.
    package init(_ form: Form, bytes: [UInt8]? = nil, faults: [BodyFault] = []) {
        self.form = form
        self.bytes = bytes
        self.faults = faults
    }

    /// A body of which some bytes were not seen: it is not decoded, and shown as it is.
    package static let incomplete: DecodedBody = {
        var body = DecodedBody(.opaque)
        body.isIncomplete = true
        return body
    }()

    private var isIncomplete = false

    /// The body without the secrets that the formats of frames inside declare.
    var withoutInnerSecrets: DecodedBody {
        guard let redacted else { return self }
        return DecodedBody(form, bytes: redacted, faults: faults)
    }

    /// Whether the body could not be decoded but may be readable to others, so that the location of its secrets is unknown.
    /// Encrypted bodies are unreadable, and those a format declares as hex have no secrets.
    private func mayHideSecrets(_ paths: [[String]], in body: RawSpan) -> Bool {
        switch form {
        case .json, .protobuf, .fields: false
        case .text: isIncomplete || faults.contains { $0.kind != .wrongKey }
        case .opaque:
            isIncomplete || faults.contains { $0.kind != .wrongKey }
                || withBytes(of: body) { SecretText.mayBe(in: $0, named: paths.compactMap(\.last)) }
        }
    }

    /// Uses the bytes, which are the body's own unless it was decoded.
    package func withBytes<Result>(of body: RawSpan, _ use: (RawSpan) -> Result) -> Result {
        guard let bytes else { return use(body) }
        return use(bytes.span.bytes)
    }

    /// The value at a path: `["text"]`, `["json", "a", "0"]`, `["protobuf", "1", "2"]`; nil if the body has none.
    package func value(at path: [String], of body: RawSpan) -> FieldValue? {
        guard let form = path.first else { return nil }
        return withBytes(of: body) { bytes in
            switch (form, self.form) {
            case ("text", .text) where path.count == 1:
                return .text(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            case ("json", .json), ("protobuf", .protobuf), ("fields", .fields):
                let path = Array(path.dropFirst())
                if path.contains(where: { $0.utf8.contains(UInt8(ascii: "=")) }) {
                    return FieldValue.inside(String(decoding: bytes.copied(), as: UTF8.self), at: path[...])
                }
                return JSONLookup.value(at: path, in: bytes)
            default: return nil
            }
        }
    }

    /// The body with the values at some paths of its JSON replaced by `«secret»`.
    ///
    /// A path may start with `json` or `protobuf`, as in expressions, or not. A name applied to an array is looked up in each of
    /// its elements. An empty path, `text`, `json` or `protobuf` alone means the whole body. A body that should have been decoded
    /// but could not be is replaced whole, unless it is encrypted; one in a field, too.
    ///
    /// - Parameter body: its bytes as received.
    package func redacting(_ paths: [[String]], of body: RawSpan) -> DecodedBody {
        guard !paths.isEmpty else { return self }
        let hidden = DecodedBody(.text, bytes: Array(JSONRedaction.mark.utf8), faults: faults)
        if paths.contains(where: { $0.isEmpty || ($0.count == 1 && BodyFormat.isForm($0[0])) }) { return hidden }
        if mayHideSecrets(paths, in: body) { return hidden }
        switch form {
        case .opaque, .text: return self
        case .json, .protobuf, .fields:
            let shorter = paths.filter { BodyFormat.isForm($0[0]) }.map { Array($0.dropFirst()) }
            if form == .protobuf, let bytes, !Self.mayHide(paths, inMessage: bytes.span.bytes) { return self }
            // The bytes of a structure as they came hold all of its values.
            let raw = form == .fields ? [[StructuredHead.raw]] : []
            // Values of a structure, or of frames inside, may be bodies that could not be read.
            let hidesUnread = form == .fields || paths.contains { $0.last == FormatBody.unframed }
            // Header lines may be among the values of a structure.
            let ignoresCase = form == .fields || hidesUnread
            var redaction = JSONRedaction(
                paths + shorter + raw, ignoringCase: ignoresCase, hidingUnread: hidesUnread)
            guard let bytes = redacted ?? bytes, let redacted = redaction.of(bytes.span.bytes) else { return hidden }
            return DecodedBody(form, bytes: redacted, faults: faults)
        }
    }

    /// Whether something of a message, written as JSON, may be at one of these paths: false only if nothing is.
    ///
    /// Only the name of a path's first part is looked for, which JSON that is written here has as it is, in quotes before a colon.
    package static func mayHide(_ paths: [[String]], inMessage json: RawSpan) -> Bool {
        paths.contains { path in
            guard let first = path.first else { return true }
            guard BodyFormat.isForm(first) else { return mayHave(first, json) }
            return path.count == 1 || mayHave(first, json) || mayHave(path[1], json)
        }
    }

    private static func mayHave(_ name: String, _ json: RawSpan) -> Bool {
        var name = name
        return name.withUTF8 { name in
            // Other characters may be written as escapes.
            let isPlain = name.allSatisfy { byte in
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                    || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte || byte == UInt8(ascii: "_")
            }
            guard isPlain, !name.isEmpty else { return true }
            var colon = name.count + 2
            while let next = json.firstIndex(of: UInt8(ascii: ":"), from: colon) {
                let end = next - 1
                if json[byte: end] == UInt8(ascii: "\""), json[byte: end - name.count - 1] == UInt8(ascii: "\""),
                    name.indices.allSatisfy({ json[byte: end - name.count + $0] == name[$0] })
                {
                    return true
                }
                colon = next + 1
            }
            return false
        }
    }
}
