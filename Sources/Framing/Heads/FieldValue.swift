import Expressions

/// The value of a field of a head.
public enum FieldValue: Hashable, Sendable {
    /// JSON's null.
    case null
    /// A truth value.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number beyond `Int64`.
    case unsigned(UInt64)
    /// Any other number.
    case number(Double)
    /// Text.
    case text(String)
    /// Bytes that are not text.
    case bytes([UInt8])
    /// A JSON array or object, as compact JSON, or a number of more digits than fit the cases above.
    case json(String)

    /// A whole number.
    package init(_ number: UInt64) { self = Int64(exactly: number).map(FieldValue.integer) ?? .unsigned(number) }

    /// A count of bytes read from a field: a whole number, or a string of decimal digits.
    public enum Count: Hashable, Sendable {
        /// The number.
        case value(Int)
        /// Below zero.
        case negative
        /// Beyond 64 bits.
        case tooLarge
    }

    /// The field as a count; nil if it is not a whole number at all.
    public var decimalInteger: Count? {
        switch self {
        case .integer(let value): return value < 0 ? .negative : .value(Int(value))
        case .unsigned: return .tooLarge
        case .text(let text):
            let digits = text.utf8.drop { $0 == UInt8(ascii: "-") }
            guard text.utf8.count - digits.count <= 1, !digits.isEmpty,
                digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
            else { return nil }
            if digits.count < text.utf8.count { return .negative }
            return Int(text).map { .value($0) } ?? .tooLarge
        default: return nil
        }
    }

    /// The nearest Double of a number; nil for everything else.
    package var double: Double? {
        switch self {
        case .number(let value): value
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .json(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
    }

    /// The value for display, truncated to 40 characters, with control characters escaped.
    public var shortDescription: String {
        switch self {
        case .null: return "null"
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .unsigned(let value): return String(value)
        case .number(let value): return String(value)
        case .text(let text): return "\"" + FieldValue.printable(text) + "\""
        case .bytes(let bytes): return "\(bytes.count) bytes"
        case .json(let text): return FieldValue.printable(text)
        }
    }

    /// How many characters are shown.
    static let mostShown = 40

    private static func printable(_ text: String) -> String {
        // Not `count`: the text may be long.
        let shown = text.unicodeScalars.prefix(mostShown)
        let escaped = String(
            String.UnicodeScalarView(
                shown.map { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) ? "\u{fffd}" : $0 }))
        return shown.endIndex < text.unicodeScalars.endIndex ? escaped + "…" : escaped
    }
}
