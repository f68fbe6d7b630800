import Streams

/// The order of one value relative to another.
package enum Ordering: Sendable, Hashable {
    /// Less than the other.
    case before
    /// Equal to the other.
    case same
    /// Greater than the other.
    case after

    init<Compared: Comparable>(_ left: Compared, _ right: Compared) {
        self = left == right ? .same : left < right ? .before : .after
    }

    var reversed: Ordering {
        switch self {
        case .before: .after
        case .same: .same
        case .after: .before
        }
    }
}

extension Value {
    /// The order of this value relative to another in the sense of expressions; nil if they cannot be compared.
    ///
    /// - Numbers of all kinds compare exactly, whole with fractional and signed with unsigned; true is 1, false is 0.
    /// - Texts compare byte by byte as UTF-8, which is the order of their scalars; so do bytes.
    /// - Bytes and a text compare as bytes if the text is two hex digits for each of them, as traces show bytes; otherwise byte by
    ///   byte with the text's UTF-8.
    /// - A text and a number compare as numbers if the whole text is a decimal number (`"5"`, `"-1.50"`, `"6e23"`): protocols
    ///   with JSON heads often write numbers as strings. Two texts always compare as texts: `"5"` is not `"5.0"`.
    /// - Everything else (a missing value, a text like `abc` and a number, bytes and a number, a boolean and a text,
    ///   not-a-number) does not compare.
    package func compared(to other: Value) -> Ordering? {
        switch (self, other) {
        case (.absent, _), (_, .absent): nil
        case (.bytes(let bytes), .text(let text)): Ordering(bytes, text)
        case (.text(let text), .bytes(let bytes)): Ordering(bytes, text).reversed
        case (.text, .text), (.bytes, .bytes):
            withBytes { left in other.withBytes { right in Ordering(bytes: left, right) } } ?? nil
        case (.text, .boolean), (.boolean, .text): nil
        default:
            if let left = Number(self), let right = Number(other) { left.compared(to: right) } else { nil }
        }
    }

    /// Whether the bytes or the text of `other` occur in this one's.
    func contains(_ other: Value) -> Bool {
        (withBytes { bytes in other.withBytes { bytes.firstOffset(of: $0) != nil } } ?? nil) ?? false
    }

    /// Whether these bytes or this text begin with those of `other`.
    func starts(with other: Value) -> Bool {
        let found = withBytes { bytes in
            other.withBytes {
                bytes.byteCount >= $0.byteCount && bytes.extracting(first: $0.byteCount).elementsEqual($0)
            }
        }
        return (found ?? nil) ?? false
    }

    /// Whether these bytes or this text end with those of `other`.
    func ends(with other: Value) -> Bool {
        let found = withBytes { bytes in
            other.withBytes {
                bytes.byteCount >= $0.byteCount && bytes.extracting(last: $0.byteCount).elementsEqual($0)
            }
        }
        return (found ?? nil) ?? false
    }
}

extension Ordering {
    /// Bytes, and text that may be their hex digits.
    fileprivate init(_ bytes: [UInt8], _ text: String) {
        let digits = text.utf8.count == 2 * bytes.count ? Hexadecimal.bytes(text.utf8) : nil
        let other = digits ?? Array(text.utf8)
        self.init(bytes: bytes.span.bytes, other.span.bytes)
    }

    fileprivate init(bytes left: RawSpan, _ right: RawSpan) {
        for offset in 0..<min(left.byteCount, right.byteCount) where left[byte: offset] != right[byte: offset] {
            self = left[byte: offset] < right[byte: offset] ? .before : .after
            return
        }
        self.init(left.byteCount, right.byteCount)
    }
}

extension RawSpan {
    fileprivate func firstOffset(of other: RawSpan) -> Int? {
        guard other.byteCount > 0 else { return 0 }
        guard byteCount >= other.byteCount else { return nil }
        let first = other[byte: 0]
        for offset in 0...byteCount - other.byteCount where self[byte: offset] == first {
            if extracting(offset..<offset + other.byteCount).elementsEqual(other) { return offset }
        }
        return nil
    }
}
