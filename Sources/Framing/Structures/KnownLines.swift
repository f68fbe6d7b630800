import Streams

/// The header lines that a search came upon last: every place in a line of text is followed by the same lines, and a search tries most.
/// They are among the bytes that it looks at, `FrameChain.window` at most.
struct KnownLines: Sendable {
    /// What lines hold.
    struct Content: Sendable {
        /// Whether all of them have a name.
        var areValid: Bool
        /// The values that expressions may refer to.
        var values: ReferencedLines?

        /// Examines lines that end with an empty one.
        init(_ lines: HeaderLines, _ bytes: RawSpan, isReferenced: Bool) {
            areValid = lines.areValid(bytes)
            if isReferenced, areValid { values = ReferencedLines(lines, bytes) }
        }
    }

    private var found: (lines: HeaderLines, isReferenced: Bool, place: Range<Int>, content: Content)?

    /// Where the empty line is that ends lines: from a stream offset up to the start of a line there is none, then this one or, if it has
    /// no end yet, one that is not known.
    private var empty: (ends: [[UInt8]], from: Int, line: Int, end: Int?)?

    /// What lines hold, and where they end.
    ///
    /// - Parameters:
    ///   - isReferenced: whether expressions refer to their values.
    ///   - start: the stream offset of the first line.
    func find(_ lines: HeaderLines, isReferenced: Bool, at start: Int) -> (end: Int, content: Content)? {
        guard let found, found.place.lowerBound == start, found.isReferenced == isReferenced, found.lines == lines
        else { return nil }
        return (found.place.upperBound, found.content)
    }

    /// Where lines end, the empty one included; nil if it is not available yet: as `HeaderLines.end` says, but no line is examined twice.
    ///
    /// - Parameters:
    ///   - start: the index of the first line.
    ///   - base: the stream offset of the first of the bytes.
    mutating func end(of lines: HeaderLines, in bytes: RawSpan, from start: Int, base: Int) -> Int? {
        let offset = base + start
        var (from, line) = (offset, start)
        if let empty, empty.from <= offset, offset <= empty.line, empty.ends == lines.ends {
            // It may begin inside one of those lines, or inside its end: only the next line is one of them.
            guard let first = bytes.firstEnd(of: lines.ends, from: start) else { return nil }
            if first.lowerBound == start { return first.upperBound }
            if base + first.upperBound <= empty.line {
                if let end = empty.end { return end - base <= bytes.byteCount ? end - base : nil }
                (from, line) = (empty.from, empty.line - base)
            }
        }
        while line <= bytes.byteCount, let end = bytes.firstEnd(of: lines.ends, from: line) {
            if end.lowerBound == line {
                empty = (lines.ends, from, base + line, base + end.upperBound)
                return end.upperBound
            }
            line = end.upperBound
        }
        empty = (lines.ends, from, base + line, nil)
        return nil
    }

    /// Notes what lines hold.
    mutating func note(_ lines: HeaderLines, isReferenced: Bool, at place: Range<Int>, _ content: Content) {
        found = (lines, isReferenced, place, content)
    }
}
