/// A format as users name it: `im-json`, `chat.yaml`, `fixed:size=8`, `delimiter:end=\r\n`.
struct FormatRequest {
    /// A built-in format's or rule's name, or a file's path.
    let name: String
    /// Values for its parameters.
    private(set) var parameters: [String: String] = [:]

    /// Splits a request; the text after the first colon that is followed by `key=` is parameters.
    init(_ text: String) throws(FormatNameError) {
        guard let colon = Self.parametersColon(in: text) else {
            name = text
            return
        }
        name = String(text[..<colon])
        for part in try Self.parts(text[text.index(after: colon)...], of: text) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
                let found = String(decoding: part, as: UTF8.self)
                throw FormatNameError(
                    "\(text): expected key=value, found \(found.isEmpty ? "nothing" : found)")
            }
            let key = String(decoding: part[..<equals], as: UTF8.self)
            guard parameters[key] == nil else { throw FormatNameError("\(text): \(key) is given twice") }
            parameters[key] = Self.text(Array(part[(equals + 1)...]))
        }
    }

    private static func parametersColon(in text: String) -> String.Index? {
        text.indices.first { index in
            guard text[index] == ":" else { return false }
            let rest = text[text.index(after: index)...]
            let key = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
            return key.first?.isLetter == true && rest.dropFirst(key.count).first == "="
        }
    }

    /// The parts between commas, with escapes resolved.
    private static func parts(_ text: Substring, of whole: String) throws(FormatNameError) -> [[UInt8]] {
        var parts: [[UInt8]] = [[]]
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: ","): parts.append([])
            case UInt8(ascii: "\\"):
                guard let resolved = escape(&rest) else {
                    throw FormatNameError(
                        "\(whole): there is no such escape; known are \\n \\r \\t \\0 \\xNN \\\\ and \\,")
                }
                parts[parts.count - 1].append(resolved)
            default: parts[parts.count - 1].append(byte)
            }
        }
        return parts
    }

    /// The byte that an escape represents, after its backslash; nil if there is no such escape.
    private static func escape(_ rest: inout Substring.UTF8View.SubSequence) -> UInt8? {
        switch rest.popFirst() {
        case UInt8(ascii: "n"): return 0x0a
        case UInt8(ascii: "r"): return 0x0d
        case UInt8(ascii: "t"): return 0x09
        case UInt8(ascii: "0"): return 0
        case UInt8(ascii: "\\"): return UInt8(ascii: "\\")
        case UInt8(ascii: ","): return UInt8(ascii: ",")
        case UInt8(ascii: "x"):
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            rest = rest.dropFirst(2)
            return digits.utf8.count == 2 ? UInt8(digits, radix: 16) : nil
        default: return nil
        }
    }

    /// Bytes as format files write them: text, or hex if they are not text.
    private static func text(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return bytes.reduce(into: "0x") { $0 += ($1 < 16 ? "0" : "") + String($1, radix: 16) }
    }
}
