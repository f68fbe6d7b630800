import Streams

/// Reads single JSON values from text that `JSONScanner` has already found to be well-formed.
package enum JSONText {
    /// The value that lies at `range`.
    static func value(_ kind: JSONScanner.Kind, _ range: Range<Int>, in text: RawSpan) -> FieldValue {
        switch kind {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .string(let escaped): return .text(string(range, escaped: escaped, in: text))
        case .number(let fractional): return number(range, fractional: fractional, in: text)
        case .array, .object: return .json(String(decoding: compact(range, in: text), as: UTF8.self))
        }
    }

    /// The name of a member.
    package static func string(_ key: JSONScanner.Key, in text: RawSpan) -> String {
        string(key.range, escaped: key.isEscaped, in: text)
    }

    /// A string without its quotes, escapes resolved. A lone surrogate becomes U+FFFD.
    package static func string(_ range: Range<Int>, escaped: Bool, in text: RawSpan) -> String {
        let inner = range.lowerBound + 1..<range.upperBound - 1
        guard escaped else {
            return text.extracting(inner).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
        var bytes: [UInt8] = []
        var at = inner.lowerBound
        while at < inner.upperBound {
            let byte = text[byte: at]
            at += 1
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let escape = text[byte: at]
            at += 1
            switch escape {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0c)
            case UInt8(ascii: "n"): bytes.append(0x0a)
            case UInt8(ascii: "r"): bytes.append(0x0d)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"): bytes += Array(String(scalar(&at, before: inner.upperBound, in: text)).utf8)
            default: bytes.append(escape)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The scalar whose four digits start at `at`, combined with the following surrogate if needed.
    private static func scalar(_ at: inout Int, before end: Int, in text: RawSpan) -> Unicode.Scalar {
        func unit(_ start: Int) -> UInt32 {
            (0..<4).reduce(0) { $0 << 4 | UInt32(hexDigit(text[byte: start + $1]) ?? 0) }
        }
        let first = unit(at)
        at += 4
        if (0xd800..<0xdc00).contains(first), at + 6 <= end, text[byte: at] == UInt8(ascii: "\\"),
            text[byte: at + 1] == UInt8(ascii: "u")
        {
            let second = unit(at + 2)
            if (0xdc00..<0xe000).contains(second) {
                at += 6
                return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)) ?? "\u{fffd}"
            }
        }
        return Unicode.Scalar(first) ?? "\u{fffd}"
    }

    static func number(_ range: Range<Int>, fractional: Bool, in text: RawSpan) -> FieldValue {
        let digits = text.extracting(range).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if !fractional {
            if let value = Int64(digits) { return .integer(value) }
            if let value = UInt64(digits) { return .unsigned(value) }
            return .json(digits)
        }
        // Digits that a Double would lose are kept as text.
        guard let value = Double(digits), value.isFinite, isExact(digits, value) else { return .json(digits) }
        return .number(value)
    }

    /// Whether a Double has all digits of a number: 15 significant ones always fit (IEEE 754 binary64).
    private static func isExact(_ digits: String, _ value: Double) -> Bool {
        let mantissa = digits.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
        let significant = mantissa.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .drop { $0 == UInt8(ascii: "0") }
        return significant.count <= 15 || String(value) == digits
    }

    /// The text of a value without white space between tokens, DEL and C1 controls escaped.
    static func compact(_ range: Range<Int>, in text: RawSpan) -> [UInt8] {
        var bytes: [UInt8] = []
        var (inString, escaped) = (false, false)
        for at in range {
            let byte = text[byte: at]
            if inString, byte == 0x7f || (byte & 0xe0 == 0x80 && bytes.last == 0xc2) {
                if byte != 0x7f { bytes.removeLast() }
                bytes += Array("\\u00".utf8)
                JSONOutput.hex(byte, into: &bytes)
                continue
            }
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
            } else if byte == UInt8(ascii: "\"") {
                inString = true
            } else if byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
                continue
            }
            bytes.append(byte)
        }
        return bytes
    }
}
