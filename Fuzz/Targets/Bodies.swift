import Framing
import Streams

/// Byte 0: the encodings. The rest is a body: it decodes to a value or a fault, and a value that is text or JSON encodes to
/// what decodes to the same.
func fuzzBodies(_ input: FuzzInput) {
    var input = input
    let (name, format) = BodyFormats.all[input.byte() % BodyFormats.all.count]
    let body = Array(input.rest)
    let decoded = format.decode(body.span.bytes, type: "1")
    let bytes = decoded.withBytes(of: body.span.bytes) { $0.copied() }
    _ = decoded.redacting([["json", "a"], ["1"]], of: body.span.bytes)
    for path in [["text"], ["json", "a", "0"], ["protobuf", "1", "2"]] {
        _ = decoded.value(at: path, of: body.span.bytes)
    }
    guard decoded.faults.isEmpty, !body.isEmpty, let content = decoded.content(bytes) else { return }
    guard let (again, bytesAgain, encoded) = round(content, format) else { return }
    if again.form == .protobuf, bytes != bytesAgain, encoded.count < body.count, let content = again.content(bytesAgain)
    {
        // A number that takes more bytes than it needs takes fewer when it is encoded, and these may look like text, which no schema
        // says they are not. From then on nothing changes.
        guard let (third, bytes, _) = round(content, format) else { return }
        return expect(third.form == again.form && bytes == bytesAgain, "\(name): \(again) became \(third)")
    }
    expect(again.form == decoded.form && bytes == bytesAgain, "\(name): \(decoded) became \(again)")
}

/// Encodes a body and decodes it again; nil if it cannot be encoded.
private func round(_ content: BodyContent, _ format: BodyFormat) -> (DecodedBody, bytes: [UInt8], encoded: [UInt8])? {
    guard let encoded = try? format.encode(content, type: "1") else { return nil }
    let again = format.decode(encoded.span.bytes, type: "1")
    return (again, again.withBytes(of: encoded.span.bytes) { $0.copied() }, encoded)
}

extension DecodedBody {
    /// What would have to be encoded to get this; nil where there is no one such thing.
    fileprivate func content(_ bytes: [UInt8]) -> BodyContent? {
        switch form {
        case .text: .text(String(decoding: bytes, as: UTF8.self))
        case .json: .json(bytes)
        case .fields: .fields(bytes)
        case .protobuf: .protobuf(bytes)
        case .opaque: nil
        }
    }
}

/// The chains that are fuzzed, each loaded once.
private enum BodyFormats {
    static let chains = [
        "text", "json", "protobuf", "aes", "base64", "base16", "zlib: { limit: 64 KiB }", "gzip: { limit: 64 KiB }",
        "deflate: { limit: 64 KiB }", "hex", "raw", "text: { charset: latin-1 }", "text: { charset: gb18030 }",
        "aes: { mode: cbc, iv: prefix, padding: zeros }", "aes: { mode: cbc, iv: zero, padding: none, input: hex }",
        "[base64, json]", "[{ aes: { input: base64 } }, json]", "[{ gzip: { limit: 4 KiB } }, json]",
        "[base16, { zlib: { limit: 4 KiB } }, { text: { charset: gb18030 } }]", "[{ aes: { mode: ecb } }, protobuf]",
        "[base64, protobuf]", "protobuf: { messages: { 1: chat.Login } }",
    ]

    static let all: [(name: String, body: BodyFormat)] = chains.compactMap { chain in
        // A chain with options is a mapping.
        let value = chain.contains(": ") && !chain.hasPrefix("[") ? "{ \(chain) }" : chain
        let yaml = """
            format: mine
            framing: { rule: chunk }
            body: \(value)
            """
        do {
            var format = try FormatLoader.load(yaml, file: chain)
            try format.use(BodyResources(keys: ["mine": Array("0123456789abcdef".utf8)]))
            return (chain, format.directions.fromClient.body)
        } catch {
            fatalError("\(error)")
        }
    }
}
