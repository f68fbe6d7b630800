extension Lexer {
    /// Part of the text as it is.
    func text(_ range: Range<Int>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars[range])
        return String(text)
    }

    /// Part of the text as shown in an error: in backquotes, truncated, without control characters.
    func describe(_ range: Range<Int>) -> String {
        describeFound(scalars[range])
    }

    /// A token as shown in an error.
    func describe(_ token: Token) -> String {
        token.kind == .end ? "the end" : describe(token.range)
    }

    /// The value of a quoted string.
    func decode(_ string: Range<Int>) throws(Fault) -> String {
        var decoded = String.UnicodeScalarView()
        var position = string.lowerBound + 1
        while position < string.upperBound - 1 {
            let scalar = scalars[position]
            guard scalar == "\\" else {
                decoded.append(scalar)
                position += 1
                continue
            }
            let start = position
            position += 2
            switch scalars[start + 1] {
            case "n": decoded.append("\n")
            case "r": decoded.append("\r")
            case "t": decoded.append("\t")
            case "0": decoded.append("\0")
            case "\"", "'", "\\": decoded.append(scalars[start + 1])
            case "x":
                let digits = scalars[position..<min(position + 2, string.upperBound - 1)]
                guard digits.count == 2, let value = hexadecimal(digits) else {
                    throw Fault(start, expected: "two hexadecimal digits after `\\x`", found: describeFound(digits))
                }
                guard let scalar = Unicode.Scalar(value), scalar.isASCII else {
                    throw Fault(start, "`\\x` stops at 7f in text: write bytes as x\"…\", characters as \\u{…}")
                }
                decoded.append(scalar)
                position += 2
            case "u":
                let rest = scalars[position..<string.upperBound - 1]
                guard rest.first == "{", let close = rest.firstIndex(of: "}"),
                    let scalar = hexadecimal(rest[(position + 1)..<close]).flatMap(Unicode.Scalar.init)
                else {
                    throw Fault(
                        start, expected: "a character's number as `\\u{…}`", found: describe(start..<start + 2))
                }
                decoded.append(scalar)
                position = close + 1
            default:
                throw Fault(
                    start, expected: "an escape (`\\\"` `\\'` `\\\\` `\\n` `\\r` `\\t` `\\0` `\\x41` `\\u{…}`)",
                    found: describe(start..<start + 2))
            }
        }
        return String(decoded)
    }
}

/// One to eight hexadecimal digits as a number.
func hexadecimal(_ digits: ArraySlice<Unicode.Scalar>) -> UInt32? {
    guard !digits.isEmpty, digits.count <= 8 else { return nil }
    var value: UInt32 = 0
    for scalar in digits {
        guard let digit = scalar.hexadecimal else { return nil }
        value = value << 4 | digit
    }
    return value
}

/// A piece of text as shown in an error.
func describeFound(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    guard !scalars.isEmpty else { return "the end" }
    var text = String.UnicodeScalarView()
    for scalar in scalars.prefix(24) { text.append(scalar.isShown ? scalar : "·") }
    return "`\(String(text))\(scalars.count > 24 ? "…" : "")`"
}

extension Unicode.Scalar {
    /// Whether it may begin a field's name: a letter of any script, or `_`.
    var startsName: Bool { isASCII ? self == "_" || properties.isAlphabetic : properties.isIDStart }

    /// Whether it may follow in a field's name: a letter, a digit, `_`.
    var continuesName: Bool { isASCII ? startsName || isDigit : properties.isIDContinue }

    var isDigit: Bool { ("0"..."9").contains(self) }

    /// Whether it may be shown on a terminal as it is.
    var isShown: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }

    /// The digit's value.
    var hexadecimal: UInt32? {
        switch self {
        case "0"..."9": value - 0x30
        case "a"..."f": value - 0x61 + 10
        case "A"..."F": value - 0x41 + 10
        default: nil
        }
    }
}
