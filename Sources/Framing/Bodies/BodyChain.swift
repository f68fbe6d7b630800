import Streams

/// The encodings of a body, the outermost first: each one's output is the next one's input. Without any, the body is opaque.
package struct BodyChain: Sendable {
    private(set) var encodings: [any BodyEncoding]

    /// Whether the chain neither changes a body nor finds faults in it, so that it can be decoded repeatedly at no cost.
    let isPlain: Bool

    /// Whether bodies are opaque bytes.
    var isOpaque: Bool { encodings.allSatisfy { $0 is RawBody } }

    /// Whether an encoding depends on the header's fields.
    var readsHead: Bool { encodings.contains { $0.role.contains(.readsHead) } }

    /// The header's fields that are keys.
    var keyFields: [String] { encodings.compactMap { ($0 as? XORBody)?.keyField } }

    /// The keys that bodies are XORed with under a header, by the place of the encoding.
    func masks(_ head: BodyHead) -> [Int: [UInt8]] {
        var masks: [Int: [UInt8]] = [:]
        for (place, encoding) in encodings.enumerated() {
            guard let key = (encoding as? XORBody)?.key(BodyContext(type: nil, head: head.fields, keys: head.keys)),
                !key.isEmpty
            else { continue }
            masks[place] = key
        }
        return masks
    }

    /// Whether frames of another format are inside, also in fields, which has secrets of its own.
    var hasInnerSecrets: Bool {
        encodings.contains { encoding in
            switch encoding {
            case let frames as FormatBody: frames.hasSecrets
            case let fields as FieldsBody: fields.hasInnerSecrets
            default: false
            }
        }
    }

    /// Whether an encoding reads numbers of a byte order.
    var hasNumbers: Bool { encodings.contains { $0 is FieldsBody || $0 is BlocksBody } }

    /// Whether bodies are encrypted, and unreadable without the key.
    var isEncrypted: Bool { encodings.first?.role.contains(.encrypted) ?? false }

    init(_ encodings: [any BodyEncoding]) {
        self.encodings = encodings
        isPlain = encodings.allSatisfy { $0.role.contains(.plain) }
    }

    /// The names of the keys that the chain uses.
    func keyNames(default name: String) -> [String] { encodings.flatMap { $0.keyNames(default: name) } }

    /// Sets the user's resources: keys and schemas.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        for index in encodings.indices { try encodings[index].use(resources, defaultKey: defaultKey) }
    }

    // MARK: Decoding

    /// Decodes a body. An empty one is left as it is, without faults.
    package func decode(_ body: RawSpan, type: String?, head: BodyHead = BodyHead()) -> DecodedBody {
        var decoded = DecodedBody(.opaque)
        // An empty body is not wrapped: only the encoding of its meaning applies.
        let encodings =
            body.byteCount > 0 ? encodings[...] : encodings.suffix(1).filter { $0.role.contains(.readsNothing) }[...]
        var context = BodyContext(type: type, head: head.fields, keys: head.keys)
        for encoding in encodings {
            let step = decoded.withBytes(of: body) { encoding.decode($0, context) }
            switch step {
            case .unchanged(let form): decoded.form = form
            case .bytes(let bytes, let form): decoded = DecodedBody(form, bytes: bytes)
            case .redactable(let bytes, let form, let redacted):
                decoded = DecodedBody(form, bytes: bytes)
                decoded.redacted = redacted
            case .locked: return clearBody(body, context.type) ?? DecodedBody(.opaque)
            case .fault(let kind, let message):
                if var clear = clearBody(body, context.type) {
                    let message = "the body is not encrypted: it is JSON as it came"
                    clear.faults = [BodyFault(kind: .badBody, encoding: AESBody.name, message: message)]
                    return clear
                }
                let fault = BodyFault(kind: kind, encoding: Swift.type(of: encoding).name, message: message)
                return failed(fault, decoded, of: body, isDecrypted: context.isDecrypted)
            }
            if encoding.role.contains(.encrypted) { context.isDecrypted = true }
        }
        return decoded
    }

    /// What must be done to determine whether a body has a fault.
    enum QuickCheck: UInt8 {
        /// Nothing: there can be no fault.
        case none
        /// It must be a Protobuf message, by number.
        case protobuf
        /// A closer look.
        case closer
    }

    var quickCheck: QuickCheck {
        guard !isPlain, let first = encodings.first, !first.role.contains(.locked) else { return .none }
        if encodings.count == 1, let protobuf = first as? ProtobufBody, protobuf.isByNumber { return .protobuf }
        return .closer
    }

    /// The kind of fault that `decode` would find first; nil if it would find none.
    func fault(of body: RawSpan, type: String?, head: @autoclosure () -> BodyHead = BodyHead()) -> BodyFault.Kind? {
        guard !isPlain, body.byteCount > 0, let first = encodings.first, !first.role.contains(.locked) else {
            return nil
        }
        if encodings.count == 1 {
            switch first.check(body, BodyContext(type: type)) {
            case .faultless: return nil
            case .faulty(let kind): return kind
            case .unknown: break
            }
        }
        return decode(body, type: type, head: readsHead ? head() : BodyHead()).faults.first?.kind
    }

    /// A body that should be encrypted but was sent in the clear; nil if it was not.
    ///
    /// Only a JSON object or array counts: encrypted bytes do not look like one by chance.
    private func clearBody(_ body: RawSpan, _ type: String?) -> DecodedBody? {
        guard let encrypted = encodings.lastIndex(where: { $0.role.contains(.encrypted) }) else { return nil }
        let clear = BodyChain(Array(encodings[(encrypted + 1)...])).decode(body, type: type)
        guard clear.form == .json, clear.faults.isEmpty else { return nil }
        let isContainer = clear.withBytes(of: body) { bytes in
            guard bytes.byteCount > 0 else { return false }
            let first = bytes[byte: 0]
            return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        }
        return isContainer ? clear : nil
    }

    /// How a body that cannot be decoded is shown: JSON with a syntax error as text, anything else as received.
    private func failed(_ fault: BodyFault, _ decoded: DecodedBody, of body: RawSpan, isDecrypted: Bool) -> DecodedBody
    {
        let isText = decoded.withBytes(of: body) { input in
            isDecrypted ? input.isSurelyText : input.firstInvalidUTF8() == nil
        }
        if fault.kind == .badJSON, isText { return DecodedBody(.text, bytes: decoded.bytes, faults: [fault]) }
        var fault = fault
        if isDecrypted, fault.kind != .wrongKey {
            fault.message = "decrypted, it is not \(fault.encoding) (\(fault.message)): probably the wrong key"
            fault.kind = .wrongKey
            fault.encoding = AESBody.name
        }
        return DecodedBody(.opaque, faults: [fault])
    }

    // MARK: Encoding

    /// The encoded body: the inverse of `decode`.
    ///
    /// Bytes are taken as on the wire if the chain defines what bytes mean, or if its key is unknown: that is what a trace shows
    /// in hex. Text is taken as it is where JSON is expected, syntax errors included.
    ///
    /// - Parameter length: how many bytes the body had; nil if that is not known. It tells what could not be decoded, and is shown
    ///   as it came, from what was decoded to bytes; and an empty body from one that was decoded to nothing.
    package func encode(
        _ content: BodyContent, type: String?, head: BodyHead = BodyHead(), length: Int? = nil
    ) throws(EncodingError) -> [UInt8] {
        if case .bytes(let bytes) = content {
            let isLocked = encodings.contains { $0.role.contains(.locked) }
            if isLocked || encodings.last?.role.contains(.meaning) == true { return bytes }
        }
        if content.bytes.isEmpty, length ?? 0 == 0 { return [] }
        do throws(EncodingError) {
            let bytes = try wrapped(content, type, head)
            guard let length, bytes.count != length, isAsItCame(content, length, type, head) else { return bytes }
            return content.bytes
        } catch {
            if let length, isAsItCame(content, length, type, head) { return content.bytes }
            throw error
        }
    }

    /// Whether content is what a body of that length is shown as that could not be decoded.
    private func isAsItCame(_ content: BodyContent, _ length: Int, _ type: String?, _ head: BodyHead) -> Bool {
        let bytes = content.bytes
        guard bytes.count == length else { return false }
        let decoded = decode(bytes.span.bytes, type: type, head: head)
        guard !decoded.faults.isEmpty, (decoded.bytes ?? bytes) == bytes else { return false }
        switch (content, decoded.form) {
        case (.bytes, .opaque), (.text, .text), (.json, .json): return true
        default: return false
        }
    }

    /// Content with all encodings.
    private func wrapped(
        _ content: BodyContent, _ type: String?, _ head: BodyHead
    ) throws(EncodingError) -> [UInt8] {
        var content = content
        var encodings = encodings[...]
        // JSON whose key is unknown is what `clearBody` read.
        if case .json = content, let locked = encodings.lastIndex(where: { $0.role.contains(.locked) }) {
            encodings = encodings[(locked + 1)...]
        }
        let context = BodyContext(type: type, head: head.fields, keys: head.keys)
        for encoding in encodings.reversed() { content = .bytes(try encoding.encode(content, context)) }
        return content.bytes
    }
}

extension RawSpan {
    /// Whether the bytes are so certainly text that no wrong key can have produced them: long enough, valid UTF-8, and without
    /// control characters other than tabs and line ends.
    var isSurelyText: Bool { byteCount >= 12 && isPrintable }

    /// Whether the bytes are valid UTF-8 without control characters other than tabs and line ends.
    var isPrintable: Bool {
        let isControlled = withUnsafeBytes { bytes in
            bytes.contains { ($0 < 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d) || $0 == 0x7f }
        }
        return !isControlled && firstInvalidUTF8() == nil
    }
}
