import Streams

/// The encoding `xor`: each byte XORed with the next one of a key, over and over (WebSocket's mask, RFC 6455 section 5.3).
///
///     body: [{ xor: { key: mask } }, json]       the key is the header's field mask: its bytes as they were sent; a frame
///                                                without it is not masked
///     body: [{ xor: { key: 0x5a } }, json]       always the same key
struct XORBody: BodyEncoding {
    static let name = "xor"
    static let needsOptions = true
    static let keys = KeySection(
        "body.xor", "bytes [XORed with a key](#xor-masks)",
        [FormatKey("key", .scalar, "a field of the header, or `0x` and hex digits", required: true)])

    private enum Key {
        case field(String)
        case bytes([UInt8])
    }

    private let key: Key

    init(_ options: YAMLMap?) {
        let text = options?.requiredText("key") ?? ""
        if text.hasPrefix("0x"), let bytes = FieldValue.text(String(text.dropFirst(2))).rawBytes, !bytes.isEmpty {
            key = .bytes(bytes)
            return
        }
        if let options, let names = options.context.headNames, !names.contains(text) {
            options.fault(
                "there is no field \(text) in the header, and it is no 0x and pairs of hex digits", at: "key")
        }
        key = .field(text)
    }

    var role: BodyRole { .readsHead }

    /// The header's field that is the key; nil if the key is always the same.
    var keyField: String? { if case .field(let name) = key { name } else { nil } }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        let key = key(context)
        if key.isEmpty { return .unchanged(.opaque) }
        return .bytes(Self.masked(input, key), .opaque)
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] { content.bytes }

    func encode(_ content: BodyContent, _ context: BodyContext) throws(EncodingError) -> [UInt8] {
        let key = key(context)
        return Self.masked(content.bytes.span.bytes, key)
    }

    /// The key; empty if there is none.
    func key(_ context: BodyContext) -> [UInt8] {
        switch key {
        case .bytes(let bytes): return bytes
        case .field(let name):
            if let bytes = context.keys[name] { return bytes }
            guard let value = context.head.first(where: { $0.name == name })?.value else { return [] }
            // A number without bytes of its own: bits of another one, digits, or what is computed.
            if let number = value.bitPattern { return [UInt8(truncatingIfNeeded: number)] }
            return value.rawBytes ?? []
        }
    }

    /// The bytes XORed with a key; as they are if that is empty.
    static func masked(_ bytes: RawSpan, _ key: [UInt8]) -> [UInt8] {
        var masked = bytes.copied()
        guard !key.isEmpty else { return masked }
        for index in masked.indices { masked[index] ^= key[index % key.count] }
        return masked
    }
}
