import Streams

/// The header lines that a search came upon last: every place in a line of text is followed by the same lines, and a search tries most.
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

    /// Longer headers than this are not remembered, in bytes.
    private static let longest = 8_192

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

    /// Notes what lines hold.
    mutating func note(_ lines: HeaderLines, isReferenced: Bool, at place: Range<Int>, _ content: Content) {
        found = place.count > Self.longest ? nil : (lines, isReferenced, place, content)
    }
}
