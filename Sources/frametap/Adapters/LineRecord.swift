import Proxy
import Streams
import Trace

/// A trace that is written to a file, or to a series of files. Each begins with the trace's first line.
final class LineRecord: ByteOutput {
    private let file: RecordFile
    private var firstLine: [UInt8]?
    /// Whether the file has more than that.
    private var hasLines = false

    init(_ file: RecordFile) {
        self.file = file
    }

    var discarded: Int { file.discarded }

    /// Begins the file: see `RecordFile.begin`.
    func begin() { file.begin() }

    /// Reports at the end what is missing.
    func warnOfDiscarded() { file.warnOfDiscarded() }

    /// Takes whole lines.
    func write(_ bytes: [UInt8]) {
        if firstLine == nil { firstLine = Array(bytes.prefix { $0 != UInt8(ascii: "\n") }) + [UInt8(ascii: "\n")] }
        var rest = bytes[...]
        while !rest.isEmpty {
            advance(adding: Self.lines(of: rest, within: 1))
            let length = Self.lines(of: rest, within: file.room ?? rest.count)
            file.write(Array(rest.prefix(length)))
            hasLines = true
            rest = rest.dropFirst(length)
        }
    }

    /// The length of the whole lines that fit in this many bytes; the first one counts even if it does not fit.
    private static func lines(of bytes: ArraySlice<UInt8>, within room: Int) -> Int {
        if bytes.count <= room { return bytes.count }
        let newline = UInt8(ascii: "\n")
        let last = bytes.prefix(max(0, room)).lastIndex(of: newline) ?? bytes.firstIndex(of: newline)
        return last.map { $0 + 1 - bytes.startIndex } ?? bytes.count
    }

    /// Continues in another file if one is due, even though nothing is written.
    func advance() {
        advance(adding: 0)
    }

    private func advance(adding byteCount: Int) {
        let now = WallClock.now()
        guard let firstLine, file.isAskedForNext || hasLines && file.isFull(adding: byteCount, at: now),
            file.next(ending: [], at: now)
        else { return }
        hasLines = false
        file.write(Self.adding(unwritten: file.discarded, to: firstLine))
    }

    /// The first line of a file that continues a trace: it says how many lines of that could not be written so far.
    private static func adding(unwritten: Int, to line: [UInt8]) -> [UInt8] {
        // It ends with a brace and LF.
        unwritten > 0 ? line.dropLast(2) + Array(",\"unwritten\":\(unwritten)}\n".utf8) : line
    }
}
