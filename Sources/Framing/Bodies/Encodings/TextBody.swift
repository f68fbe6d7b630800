import Streams

/// The encoding `text`: UTF-8, or another `charset`: `text: { charset: gb18030 }`. A body that is not valid in it is shown in
/// hex, without a fault: the format may send pictures the same way.
struct TextBody: BodyEncoding {
    static let name = "text"
    static let keys = KeySection(
        "body.text", "UTF-8; a body that is not valid is shown in hex, and is not an error",
        [FormatKey("charset", .words(of: Charset.self), "the character set", default: "utf-8")])

    /// The character set.
    enum Charset: String, CaseIterable {
        case utf8 = "utf-8"
        case latin1 = "latin-1"
        case gb18030
    }

    private(set) var charset = Charset.utf8

    init(_ options: YAMLMap?) {
        charset = options?.choice("charset", Charset.self) ?? .utf8
    }

    var role: BodyRole { charset == .utf8 ? [.plain, .readsNothing] : .readsNothing }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        let step = read(input)
        guard context.isDecrypted else { return step }
        let isText =
            switch step {
            case .unchanged(.text): input.isPrintable
            case .bytes(let bytes, .text): bytes.span.bytes.isPrintable
            default: false
            }
        return isText ? step : .fault(.wrongKey, "decrypted, it is no text: probably the wrong key")
    }

    private func read(_ input: RawSpan) -> BodyStep {
        switch charset {
        case .utf8: return .unchanged(input.firstInvalidUTF8() == nil ? .text : .opaque)
        case .latin1: return .bytes(Self.utf8(fromLatin1: input), .text)
        case .gb18030:
            if input.withUnsafeBytes({ $0.allSatisfy { $0 < 0x80 } }) { return .unchanged(.text) }
            return Iconv.convert(input, from: "GB18030", to: "UTF-8").map { .bytes($0, .text) } ?? .unchanged(.opaque)
        }
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        guard charset != .utf8, case .text(let text) = content else { return content.bytes }
        if charset == .latin1 {
            guard text.unicodeScalars.allSatisfy({ $0.value < 0x100 }) else {
                throw EncodingError("the text has characters that Latin-1 lacks")
            }
            return text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        }
        guard let bytes = Iconv.convert(content.bytes.span.bytes, from: "UTF-8", to: "GB18030") else {
            throw EncodingError("the system's iconv cannot write the text in GB 18030")
        }
        return bytes
    }

    private static func utf8(fromLatin1 input: RawSpan) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(input.byteCount)
        input.withUnsafeBytes { input in
            for byte in input {
                if byte >= 0x80 { bytes.append(0xc0 | byte >> 6) }
                bytes.append(byte < 0x80 ? byte : 0x80 | byte & 0x3f)
            }
        }
        return bytes
    }
}
