/// The value of a field or of an expression.
///
/// Swift's `==` compares cases as they are; equality and order in expressions are defined by `compared(to:)`.
package enum Value: Hashable, Sendable {
    /// The field is missing.
    case absent
    /// True or false; compared with numbers it counts as 1 or 0.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number that may be too large for `integer`.
    case unsigned(UInt64)
    /// A number with a fraction.
    case number(Double)
    /// Text; compared by its UTF-8 bytes, without Unicode normalisation.
    case text(String)
    /// Bytes that need not be text.
    case bytes([UInt8])
}

extension Value {
    /// Whether the value counts as true as a condition: present, and neither false, zero nor empty.
    ///
    /// The texts `0` and `false` are not empty, so they count as true.
    package var isTrue: Bool {
        switch self {
        case .absent: false
        case .boolean(let value): value
        case .integer(let value): value != 0
        case .unsigned(let value): value != 0
        case .number(let value): value != 0
        case .text(let value): !value.isEmpty
        case .bytes(let value): !value.isEmpty
        }
    }

    /// Calls `body` with the bytes of a text (as UTF-8) or of bytes; nil for everything else.
    func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result? {
        switch self {
        case .text(var text): text.withUTF8 { body($0.span.bytes) }
        case .bytes(let bytes): body(bytes.span.bytes)
        default: nil
        }
    }
}
