import Framing
import Streams

/// Reads a trace's events from its lines (`docs/trace.md`), which may span several files, as `--rotate` writes them. After a
/// summary, another run may follow in the same or another file.
///
/// Events, keys and values that it does not know are skipped: a version may add more of them. A trace may have been restarted
/// (HUP), or continue after a line truncated by a full disk: `notes` reports what was skipped.
package struct EventReader: Sendable {
    /// How long a line may be: a frame of 16 MiB in hex, plus the rest of the line.
    package static let longestLine = 40 << 20

    /// What could not be read, as human-readable lines.
    package private(set) var notes: [String] = []

    private var file = ""
    private var line = 0
    private var partial: [UInt8] = []
    /// Whether a file was begun, and whether the trace has its summary.
    private var hasBegun = false
    private var hasSummary = false

    /// At most how many notes are kept.
    private static let mostNotes = 20

    /// A reader that has read nothing.
    package init() {}

    /// Begins with a file, or continues with another one.
    package mutating func begin(_ file: String) throws(TraceReadError) {
        // What is missing at the end of a file may be in the next one.
        if !partial.isEmpty, line > 0 {
            line += 1
            note("the line is cut off after \(partial.count) bytes; it is skipped")
            partial.removeAll()
        }
        try endFile()
        self.file = file
        line = 0
    }

    /// An event, and the number of its line in the file.
    package typealias Numbered = (event: TraceEvent, line: Int)

    /// Takes bytes of the file; lines may be split anywhere.
    ///
    /// - Returns: the events of the lines completed by these bytes.
    package mutating func read(_ bytes: RawSpan) throws(TraceReadError) -> [Numbered] {
        var events: [Numbered] = []
        try read(bytes, into: &events)
        return events
    }

    /// Takes bytes of the file, as `read` does.
    ///
    /// - Parameter events: gets the events of the lines completed by these bytes; if one of them cannot be read, those before it.
    package mutating func read(_ bytes: RawSpan, into events: inout [Numbered]) throws(TraceReadError) {
        var start = 0
        for offset in 0..<bytes.byteCount where bytes[unchecked: offset] == UInt8(ascii: "\n") {
            let piece = bytes.extracting(start..<offset)
            start = offset + 1
            if partial.isEmpty {
                try take(piece, into: &events)
            } else {
                partial.append(contentsOf: piece)
                let whole = partial
                partial.removeAll(keepingCapacity: true)
                try take(whole.span.bytes, into: &events)
            }
        }
        partial.append(contentsOf: bytes.extracting(start..<bytes.byteCount))
        if partial.count > Self.longestLine {
            line += 1
            throw fault("the line has more than \(Self.longestLine) bytes")
        }
    }

    /// Everything was read.
    package mutating func finish() throws(TraceReadError) {
        try endFile()
        guard hasBegun else {
            line = 1
            throw fault("the file is empty; \(Self.firstLine)")
        }
        if !hasSummary {
            line += 1
            note("the trace ends here without a summary: it goes on in another file, or its writer was stopped")
        }
    }

    /// The event of a single line, with or without its line feed; nil if it is of an unknown kind.
    package static func event(of line: [UInt8]) throws -> TraceEvent? {
        try EventLine(try JSONValue(parsing: line.span.bytes), file: "", line: 0).event()
    }

    private static let firstLine =
        "expected the first line of a trace, {\"event\":\"trace\",\"version\":\(NDJSONWriter.version),…}"

    /// Adds a note about the line read last.
    package mutating func note(_ message: String, line: Int? = nil) {
        if notes.count < Self.mostNotes { notes.append("\(file):\(line ?? self.line): \(message)") }
    }

    /// The error in a line: the one read last, unless another is given.
    package func fault(_ message: String, line: Int? = nil) -> TraceReadError {
        TraceReadError(file: file, line: line ?? self.line, message: message)
    }

    private mutating func endFile() throws(TraceReadError) {
        guard !partial.isEmpty else { return }
        line += 1
        throw fault(
            line == 1
                ? "this is no trace; \(Self.firstLine)"
                : "the line is cut off after \(partial.count) bytes; expected a whole line of JSON with a line feed after it"
        )
    }

    private mutating func take(_ text: RawSpan, into events: inout [Numbered]) throws(TraceReadError) {
        line += 1
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: text)
        } catch {
            if line == 1 {
                throw fault("this is no trace, it begins with \(Self.beginning(of: text)); \(Self.firstLine)")
            }
            guard Self.isCutLine(text) else { throw fault("this is no JSON: \(error)") }
            return try takeWhatFollows(text, into: &events)
        }
        let event = EventLine(value, file: file, line: line)
        let name = try event.name()
        if line == 1, name != "trace" { throw fault("found \"event\":\"\(name)\"; \(Self.firstLine)") }
        if line > 1, hasSummary, name != "trace" {
            throw fault("found \"event\":\"\(name)\" after the summary; expected the end of the trace")
        }
        if let event = try event.event() { try take(event, into: &events) }
    }

    private mutating func take(_ event: TraceEvent, into events: inout [Numbered]) throws(TraceReadError) {
        switch event {
        case .trace(let start):
            guard (NDJSONWriter.oldestVersion...NDJSONWriter.version).contains(start.version) else {
                throw fault(
                    "this is version \(start.version) of the trace format; expected version \(NDJSONWriter.oldestVersion) to \(NDJSONWriter.version)"
                )
            }
            hasBegun = true
            hasSummary = false
        case .summary: hasSummary = true
        default: break
        }
        events.append((event, line))
    }

    private static let lineStart = Array("{\"event\":\"".utf8)

    /// Whether a line, or its part before another one begins in it, begins as all lines do.
    private static func isCutLine(_ text: RawSpan) -> Bool {
        let bytes = text.copied(0..<min(text.byteCount, lineStart.count))
        let same = zip(bytes, lineStart).prefix { $0 == $1 }.count
        return same == bytes.count || same > 0 && bytes[same] == UInt8(ascii: "{")
    }

    /// A line was truncated by a full disk: the rest of the same line is another one, if complete.
    private mutating func takeWhatFollows(
        _ text: RawSpan, into events: inout [Numbered]
    ) throws(TraceReadError) {
        let bytes = text.copied(0..<text.byteCount)
        var place = bytes.count - Self.lineStart.count
        while place > 0 {
            if bytes[place] == UInt8(ascii: "{"), bytes[place...].starts(with: Self.lineStart),
                let value = try? JSONValue(parsing: text.extracting(place..<bytes.count))
            {
                note("the line is cut off after \(place) bytes; what follows is read")
                if let event = try EventLine(value, file: file, line: line).event() { try take(event, into: &events) }
                return
            }
            place -= 1
        }
        note("the line is cut off after \(bytes.count) bytes; it is skipped")
    }

    /// The beginning of a file that is not a trace, for an error message.
    private static func beginning(of text: RawSpan) -> String {
        let bytes = text.copied(0..<min(24, text.byteCount))
        return "\"\(PrintableText.of(String(decoding: bytes, as: UTF8.self)))\(text.byteCount > 24 ? "…" : "")\""
    }
}
