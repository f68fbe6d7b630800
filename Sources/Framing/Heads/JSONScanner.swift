import Streams

/// Why bytes are not JSON.
package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    /// Where, in bytes from the start of the text.
    package var offset: Int
    /// What the grammar expects there.
    package var expected: String

    /// An error at a place.
    package init(offset: Int, expected: String) {
        self.offset = offset
        self.expected = expected
    }

    /// `expected ':' at byte 12`
    package var description: String { "expected \(expected) at byte \(offset)" }
}

/// Walks over JSON text (RFC 8259) without building anything: it checks the grammar and reports where values are.
///
/// The text is an argument of every call, since a span cannot be kept. Nesting is limited, so that no input can exhaust the
/// stack, and a search for heads in hostile bytes stays linear.
package struct JSONScanner: Sendable {
    /// The scanner's position, in bytes.
    package private(set) var position: Int
    /// How deeply arrays and objects may nest.
    package let depthLimit: Int
    /// How deeply they may in a head.
    package static let headDepth = 32

    /// A scanner at `position`.
    package init(at position: Int = 0, depthLimit: Int = Self.headDepth) {
        self.position = position
        self.depthLimit = depthLimit
    }

    /// The kind of a value; kinds of numbers are distinguished when they are read.
    package enum Kind: Sendable {
        /// `{…}`
        case object
        /// `[…]`
        case array
        /// `"…"`; whether it contains a backslash.
        case string(escaped: Bool)
        /// A number; whether it has a fraction or an exponent.
        case number(fractional: Bool)
        /// `true` or `false`
        case boolean(Bool)
        /// `null`
        case null
    }

    /// Skips space, tab, LF and CR.
    package mutating func skipSpace(_ text: RawSpan) { position = Self.afterSpace(text, from: position) }

    /// Whether the scanner is at the end.
    package func isAtEnd(_ text: RawSpan) -> Bool { position >= text.byteCount }

    /// The byte at the scanner's position; nil at the end.
    package func peek(_ text: RawSpan) -> UInt8? {
        position < text.byteCount ? text[unchecked: position] : nil
    }

    /// Skips one byte if it is `byte`, and returns whether it was.
    package mutating func take(_ byte: UInt8, _ text: RawSpan) -> Bool {
        guard peek(text) == byte else { return false }
        position += 1
        return true
    }

    /// Skips one byte that must be `byte`.
    package mutating func expect(_ byte: UInt8, _ text: RawSpan) throws(JSONSyntaxError) {
        guard take(byte, text) else { throw fault("'\(Character(UnicodeScalar(byte)))'") }
    }

    /// Skips one value and the space before it; returns its kind and range, quotes included.
    package mutating func value(
        _ text: RawSpan, depth: Int = 0
    ) throws(JSONSyntaxError) -> (kind: Kind, range: Range<Int>) {
        skipSpace(text)
        let start = position
        guard let first = peek(text) else { throw fault("a value") }
        switch first {
        case UInt8(ascii: "{"):
            try nested(depth)
            try members(text, depth: depth) { _, _, _ in }
            return (.object, start..<position)
        case UInt8(ascii: "["):
            try nested(depth)
            try elements(text, depth: depth)
            return (.array, start..<position)
        case UInt8(ascii: "\""):
            let escaped = try string(text)
            return (.string(escaped: escaped), start..<position)
        case UInt8(ascii: "t"):
            try word("true", text)
            return (.boolean(true), start..<position)
        case UInt8(ascii: "f"):
            try word("false", text)
            return (.boolean(false), start..<position)
        case UInt8(ascii: "n"):
            try word("null", text)
            return (.null, start..<position)
        default:
            let fractional = try number(text)
            return (.number(fractional: fractional), start..<position)
        }
    }

    /// The key of a member.
    package struct Key: Sendable {
        /// Where it is, with quotes.
        package let range: Range<Int>
        /// Whether it contains a backslash.
        package let isEscaped: Bool
    }

    /// Skips an object that must start here, and passes on each member: its key, its value's kind and range.
    package mutating func members(
        _ text: RawSpan, depth: Int = 0, _ each: (_ key: Key, _ kind: Kind, _ value: Range<Int>) -> Void
    ) throws(JSONSyntaxError) {
        try expect(UInt8(ascii: "{"), text)
        skipSpace(text)
        if take(UInt8(ascii: "}"), text) { return }
        while true {
            if let (key, value) = plainMember(text) {
                each(Key(range: key, isEscaped: false), .string(escaped: false), value)
            } else {
                skipSpace(text)
                let start = position
                let isEscaped = try string(text)
                let key = Key(range: start..<position, isEscaped: isEscaped)
                skipSpace(text)
                try expect(UInt8(ascii: ":"), text)
                let (kind, range) = try value(text, depth: depth + 1)
                each(key, kind, range)
            }
            skipSpace(text)
            if take(UInt8(ascii: "}"), text) { return }
            guard take(UInt8(ascii: ","), text) else { throw fault("',' or '}'") }
        }
    }

    /// Skips a member whose key and value are strings without escapes, the most common one; nil if this one is not, and then nothing
    /// is skipped.
    @inline(__always)
    private mutating func plainMember(_ text: RawSpan) -> (key: Range<Int>, value: Range<Int>)? {
        let key = Self.afterSpace(text, from: position)
        guard let keyEnd = Self.endOfPlainString(text, at: key) else { return nil }
        let colon = Self.afterSpace(text, from: keyEnd)
        guard colon < text.byteCount, text[unchecked: colon] == UInt8(ascii: ":") else { return nil }
        let value = Self.afterSpace(text, from: colon &+ 1)
        guard let end = Self.endOfPlainString(text, at: value) else { return nil }
        position = end
        return (key..<keyEnd, value..<end)
    }

    /// Where space ends that may start at an index.
    @inline(__always)
    private static func afterSpace(_ text: RawSpan, from start: Int) -> Int {
        var at = start
        while at < text.byteCount {
            switch text[unchecked: at] {
            case 0x20, 0x09, 0x0a, 0x0d: at &+= 1
            default: return at
            }
        }
        return at
    }

    /// Where a string without escapes ends that starts at an index; nil if there is none.
    @inline(__always)
    private static func endOfPlainString(_ text: RawSpan, at start: Int) -> Int? {
        guard start < text.byteCount, text[unchecked: start] == UInt8(ascii: "\"") else { return nil }
        let end = endOfPlain(text, from: start &+ 1)
        return end < text.byteCount && text[unchecked: end] == UInt8(ascii: "\"") ? end &+ 1 : nil
    }

    private mutating func elements(_ text: RawSpan, depth: Int) throws(JSONSyntaxError) {
        try expect(UInt8(ascii: "["), text)
        skipSpace(text)
        if take(UInt8(ascii: "]"), text) { return }
        while true {
            _ = try value(text, depth: depth + 1)
            skipSpace(text)
            if take(UInt8(ascii: "]"), text) { return }
            guard take(UInt8(ascii: ","), text) else { throw fault("',' or ']'") }
        }
    }

    /// Skips a string; returns whether it contains a backslash.
    private mutating func string(_ text: RawSpan) throws(JSONSyntaxError) -> Bool {
        guard take(UInt8(ascii: "\""), text) else { throw fault("'\"'") }
        var escaped = false
        while true {
            position = Self.endOfPlain(text, from: position)
            guard position < text.byteCount else { break }
            let byte = text[unchecked: position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return escaped
            }
            guard byte >= 0x20 else { throw fault("no control character in a string") }
            position += 1
            guard byte == UInt8(ascii: "\\") else { continue }
            escaped = true
            try escape(text)
        }
        throw fault("the end of a string")
    }

    /// The index of the first byte of a string that is a quote, a backslash, or a control character; without one, the end.
    @inline(__always)
    static func endOfPlain(_ text: RawSpan, from start: Int) -> Int {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        // Marks zero bytes. Borrows can mark bytes above a zero one, too, but only the lowest mark is used.
        func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        var at = start
        while text.byteCount &- at >= 8 {
            let word = text.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self).littleEndian
            let found =
                ((word &- ones &* 0x20) & ~word | zeros(word ^ ones &* 0x22) | zeros(word ^ ones &* 0x5c)) & tops
            if found != 0 { return at &+ found.trailingZeroBitCount >> 3 }
            at &+= 8
        }
        while at < text.byteCount {
            let byte = text[unchecked: at]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            at &+= 1
        }
        return at
    }

    private mutating func escape(_ text: RawSpan) throws(JSONSyntaxError) {
        guard let byte = peek(text) else { throw fault("an escape") }
        switch byte {
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard let digit = peek(text), hexDigit(digit) != nil else { throw fault("four hex digits") }
                position += 1
            }
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        default: throw fault("an escape")
        }
    }

    /// Skips a number; returns whether it has a fraction or an exponent.
    private mutating func number(_ text: RawSpan) throws(JSONSyntaxError) -> Bool {
        let start = position
        _ = take(UInt8(ascii: "-"), text)
        if !take(UInt8(ascii: "0"), text) {
            guard digits(text) > 0 else {
                position = start
                throw fault("a value")
            }
        }
        var fractional = false
        if take(UInt8(ascii: "."), text) {
            fractional = true
            guard digits(text) > 0 else { throw fault("a digit") }
        }
        if take(UInt8(ascii: "e"), text) || take(UInt8(ascii: "E"), text) {
            fractional = true
            if !take(UInt8(ascii: "+"), text) { _ = take(UInt8(ascii: "-"), text) }
            guard digits(text) > 0 else { throw fault("a digit") }
        }
        return fractional
    }

    private mutating func digits(_ text: RawSpan) -> Int {
        let start = position
        while let byte = peek(text), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position - start
    }

    private mutating func word(_ word: StaticString, _ text: RawSpan) throws(JSONSyntaxError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard peek(text) == word.utf8Start[index] else { throw fault(word.description) }
            position += 1
        }
    }

    private func nested(_ depth: Int) throws(JSONSyntaxError) {
        guard depth < depthLimit else { throw fault("no more than \(depthLimit) levels") }
    }

    private func fault(_ expected: String) -> JSONSyntaxError {
        JSONSyntaxError(offset: position, expected: expected)
    }
}

/// The value of a hexadecimal digit.
@inlinable
package func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): return byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): return byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): return byte - UInt8(ascii: "A") + 10
    default: return nil
    }
}
