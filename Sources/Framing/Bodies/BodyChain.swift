import Streams

/// The encodings of a body, the outermost first: what one yields, the next reads. Without any the body is opaque.
package struct BodyChain: Sendable {
    private(set) var encodings: [any BodyEncoding]

    /// Whether the chain neither changes a body nor finds anything wrong with it, so that it can be read as often as wanted.
    let isPlain: Bool

    init(_ encodings: [any BodyEncoding]) {
        self.encodings = encodings
        isPlain = encodings.allSatisfy { $0.role.contains(.plain) }
    }

    /// The names of the keys that the chain uses.
    func keyNames(default name: String) -> [String] { encodings.flatMap { $0.keyNames(default: name) } }

    /// Takes what the user gave: keys and schemas.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        for index in encodings.indices { try encodings[index].use(resources, defaultKey: defaultKey) }
    }

    // MARK: Decoding

    /// What a body is. One without any bytes is as it is, and nothing is wrong with it.
    package func decode(_ body: RawSpan, type: String?) -> DecodedBody {
        var decoded = DecodedBody(.opaque)
        // Where there is nothing, nothing was wrapped: only what it means is asked.
        let encodings =
            body.byteCount > 0 ? encodings[...] : encodings.suffix(1).filter { $0.role.contains(.readsNothing) }[...]
        var context = BodyContext(type: type)
        for encoding in encodings {
            let step = decoded.withBytes(of: body) { encoding.decode($0, context) }
            switch step {
            case .unchanged(let form): decoded.form = form
            case .bytes(let bytes, let form): decoded = DecodedBody(form, bytes: bytes)
            case .locked: return DecodedBody(.opaque)
            case .fault(let kind, let message):
                let fault = BodyFault(kind: kind, encoding: Swift.type(of: encoding).name, message: message)
                return failed(fault, decoded, of: body, isDecrypted: context.isDecrypted)
            }
            if encoding.role.contains(.encrypted) { context.isDecrypted = true }
        }
        return decoded
    }

    /// What is shown of a body that cannot be read: JSON with a mistake in it as text, all else as it came.
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

    /// The body that says `content`: what `decode` reads as that.
    ///
    /// Bytes are taken as they lie on the wire where the chain says what bytes mean, and where its key is not known: that is
    /// what a trace shows in hex. Text is taken as it is where JSON is wanted, mistakes included.
    package func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        if case .bytes(let bytes) = content {
            let isLocked = encodings.contains { $0.role.contains(.locked) }
            if isLocked || encodings.last?.role.contains(.meaning) == true { return bytes }
        }
        if content.bytes.isEmpty { return [] }
        var content = content
        for encoding in encodings.reversed() { content = .bytes(try encoding.encode(content, type: type)) }
        return content.bytes
    }
}

extension RawSpan {
    /// Whether the bytes are so certainly text that no wrong key can have made them: long enough, valid UTF-8, and
    /// without control characters other than tabs and line ends.
    var isSurelyText: Bool { byteCount >= 12 && isPrintable }

    /// Whether the bytes are valid UTF-8 without control characters other than tabs and line ends.
    var isPrintable: Bool {
        let isControlled = withUnsafeBytes { bytes in
            bytes.contains { ($0 < 0x20 && $0 != 0x09 && $0 != 0x0a && $0 != 0x0d) || $0 == 0x7f }
        }
        return !isControlled && firstInvalidUTF8() == nil
    }
}
