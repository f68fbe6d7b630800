import Streams

/// A stream of which each byte is XORed with the next one of a key, over and over: `xor: { key: 0x5ac3 }`.
struct XORStream: StreamEncoding {
    static let name = "xor"
    static let keys = KeySection(
        "through.xor", "XORed with a key, over and over",
        [FormatKey("key", .scalar, "`0x` and pairs of hex digits", required: true)])

    private let key: [UInt8]

    init(_ options: YAMLMap?) {
        let text = options?.requiredText("key") ?? ""
        let bytes = text.hasPrefix("0x") ? FieldValue.text(String(text.dropFirst(2))).rawBytes ?? [] : []
        if bytes.isEmpty { options?.fault("key is \(text); expected 0x and pairs of hex digits", at: "key") }
        key = bytes
    }

    func layer() throws(StreamLayerFault) -> any StreamLayer {
        if key.isEmpty { throw StreamLayerFault("xor: it has no key") }
        return Layer(key)
    }

    private final class Layer: StreamLayer {
        private let key: [UInt8]
        private var position = 0
        let isOver = false
        let memory = 64

        init(_ key: [UInt8]) { self.key = key }

        func take(_ bytes: RawSpan, _ emit: (RawSpan) -> Void) throws(StreamLayerFault) -> Int {
            var plain = bytes.copied()
            for index in plain.indices { plain[index] ^= key[(position + index) % key.count] }
            position = (position + plain.count) % key.count
            emit(plain.span.bytes)
            return plain.count
        }

        func skip(_ byteCount: Int) -> Int? {
            position = (position + byteCount) % key.count
            return byteCount
        }
    }
}
