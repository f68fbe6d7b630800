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
        return lines.mayHaveLine(named: name, in: bytes.span.bytes)
    }

    private func read() -> [(name: String, value: FieldValue)] {
        let bytes = bytes
        return lines.read(bytes.span.bytes).map { HeaderLines.plain($0) } ?? []
    }
}
