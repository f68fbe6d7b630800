import Streams
import Synchronization

/// Header lines whose values expressions may ask for. Most are not asked for any, and then they are not read; a search asks the same lines
/// for every place before them.
final class ReferencedLines: Sendable {
    private let lines: HeaderLines
    private let bytes: [UInt8]

    private struct Known {
        /// The values by name, once one of them was asked for.
        var values: [(name: String, value: FieldValue)]?
        /// Names that no line has.
        var absent: [String] = []
    }

    private let known = Mutex(Known())

    /// Lines that end with an empty one.
    init(_ lines: HeaderLines, _ bytes: RawSpan) { (self.lines, self.bytes) = (lines, bytes.copied()) }

    /// The value of a name, which is in lower case; nil if no line has it.
    func value(of name: String) -> FieldValue? {
        known.withLock { known in
            if known.absent.contains(name) { return nil }
            if known.values == nil {
                guard mayHave(name) else {
                    known.absent.append(name)
                    return nil
                }
                known.values = read()
            }
            return known.values?.last { $0.name == name }?.value
        }
    }

    private func mayHave(_ name: String) -> Bool {
        let bytes = bytes
        return lines.mayHave(name, in: bytes.span.bytes)
    }

    private func read() -> [(name: String, value: FieldValue)] {
        let bytes = bytes
        return lines.read(bytes.span.bytes).map { HeaderLines.plain($0) } ?? []
    }
}

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

    private var found: (lines: HeaderLines, name: String, place: Range<Int>, content: Content)?

    /// The lines of an item, and where they end.
    ///
    /// - Parameter start: the stream offset of the first line.
    func find(_ lines: HeaderLines, _ name: String, at start: Int) -> (end: Int, content: Content)? {
        guard let found, found.place.lowerBound == start, found.lines == lines, found.name == name else { return nil }
        return (found.place.upperBound, found.content)
    }

    /// Notes the lines of an item.
    mutating func note(_ lines: HeaderLines, _ name: String, at place: Range<Int>, _ content: Content) {
        found = (lines, name, place, content)
    }
}
