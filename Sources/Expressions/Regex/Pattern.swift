import Streams

/// A regular expression, searched for in time proportional to the text, whatever the pattern and the text.
///
/// The syntax is a subset of RE2's: literals, `.` (not the line feed), `[a-z]`, `[^…]`, `\d \D \w \W \s \S` (ASCII), `\b \B`
/// (ASCII words), `^ $ \A \z`, `(…)`, `(?:…)`, `(?P<name>…)`, `|`, `* + ? {m} {m,} {m,n}` (counts up to 1,000) and their lazy
/// forms, `(?i) (?m) (?s)` (also `(?i:…)`), `\n \r \t \f \v \0 \x41 \x{5fc3} \u{5fc3}`. A backslash before a punctuation mark
/// means that mark; a `{` that does not begin a count means itself. `^` and `$` are the ends of the text, of lines only with
/// `(?m)`. Back references, lookaround, atomic groups, possessive counts, `\p` and POSIX classes are errors.
///
/// Texts match by Unicode scalars. Bytes match as UTF-8 in which a byte that is not part of valid UTF-8 counts as the scalar of
/// its value, so that `^\xff\xd8` finds a JPEG; to find arbitrary exact bytes, use `contains x"…"`.
package struct Pattern: Sendable {
    /// The pattern as written.
    package let source: String

    let program: PatternProgram

    /// Parses a pattern.
    ///
    /// - Throws: the error, at its column in the pattern.
    package init(parsing source: String) throws(ExpressionError) {
        do {
            self = try Pattern(scalars: Array(source.unicodeScalars), at: 0)
        } catch {
            throw ExpressionError(error, in: source)
        }
    }

    /// Parses a pattern inside another text, `offset` scalars after that text's beginning.
    init(scalars: [Unicode.Scalar], at offset: Int) throws(Fault) {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        source = String(text)
        var parser = PatternParser(scalars, at: offset)
        program = try PatternProgram(parser.parse(), at: offset)
    }

    /// Whether the pattern matches somewhere in a text or in bytes; false for every other value.
    package func matches(_ value: Value) -> Bool {
        value.withBytes(matches) ?? false
    }

    /// Whether the pattern matches somewhere in a text.
    package func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0.span.bytes) }
    }

    /// Whether the pattern matches somewhere in bytes.
    package func matches(_ bytes: RawSpan) -> Bool {
        // Most texts are not what is searched for.
        if let start = program.textStart, bytes.byteCount == 0 || bytes[byte: 0] != start { return false }
        var matcher = PatternMatcher(program)
        return matcher.search(bytes)
    }

    /// The length in bytes of the longest match that starts at a byte; nil if there is none.
    ///
    /// - Parameter start: where it starts: at a character. What is before it counts for `^` and `\b`.
    package func prefixLength(in bytes: RawSpan, from start: Int = 0) -> Int? {
        if let first = program.firstByte, start >= bytes.byteCount || bytes[byte: start] != first { return nil }
        var matcher = PatternMatcher(program)
        return matcher.prefix(bytes, from: start)
    }

    /// The pattern in quotes, as in expressions. One with a bare `"` was written in single quotes.
    var quoted: String {
        var isEscaped = false
        for scalar in source.unicodeScalars {
            if scalar == "\"", !isEscaped { return "'\(source)'" }
            isEscaped = scalar == "\\" && !isEscaped
        }
        return "\"\(source)\""
    }
}

extension Pattern: Hashable {
    /// Patterns are equal if they are written the same, scalar by scalar.
    package static func == (left: Pattern, right: Pattern) -> Bool {
        left.source.utf8.elementsEqual(right.source.utf8)
    }

    /// Hashes the source.
    package func hash(into hasher: inout Hasher) {
        for byte in source.utf8 { hasher.combine(byte) }
    }
}
