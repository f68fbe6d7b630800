import Framing
import Streams

/// Reads a trace from its lines (`docs/trace.md`), which may lie in several files, as `--rotate` writes them.
///
/// Events, keys and values that it does not know are skipped: version 1 may get more of them. A trace may have been begun anew
/// (HUP), or go on behind a line that was cut by a full disk: what was skipped, the trace's notes say.
public struct TraceReader: Sendable {
    /// How long a line may be: a frame of 16 MiB in hex, and what stands around it.
    public static let longestLine = 40 << 20

    private var trace: RecordedTrace?
    /// Where each connection is, by its number.
    private var places: [Int: Int] = [:]
    private var file = ""
    private var line = 0
    private var partial: [UInt8] = []
    private var hasSummary = false
    /// Whether the trace was begun anew, so that connections may open whose numbers were used before.
    private var isResumed = false
    private var notes: [String] = []

    /// How many notes are kept.
    private static let mostNotes = 20

    /// A reader that has read nothing.
    public init() {}

    /// Begins with a file, or goes on with another one.
    public mutating func begin(_ file: String) throws(TraceReadError) {
        // What a file lacks, the next one may have.
        if !partial.isEmpty, line > 0 {
            line += 1
            note("the line is cut off after \(partial.count) bytes; it is skipped")
            partial.removeAll()
        }
        try endFile()
        self.file = file
        line = 0
        // One run's files follow one another; another run's have a summary before them.
        if trace != nil { isResumed = true }
    }

    private mutating func note(_ message: String) {
        if notes.count < Self.mostNotes { notes.append("\(file):\(line): \(message)") }
    }

    /// Takes bytes of the file; lines may be cut anywhere.
    public mutating func read(_ bytes: RawSpan) throws(TraceReadError) {
        var start = 0
        for offset in 0..<bytes.byteCount where bytes[unchecked: offset] == UInt8(ascii: "\n") {
            let piece = bytes.extracting(start..<offset)
            start = offset + 1
            if partial.isEmpty {
                try take(piece)
            } else {
                partial.append(contentsOf: piece)
                let whole = partial
                partial.removeAll(keepingCapacity: true)
                try take(whole.span.bytes)
            }
        }
        partial.append(contentsOf: bytes.extracting(start..<bytes.byteCount))
        if partial.count > Self.longestLine {
            line += 1
            throw fault("the line has more than \(Self.longestLine) bytes")
        }
    }

    /// What was said since this was last asked for; the trace no longer holds it.
    package mutating func takeItems() -> [RecordedItem] {
        guard let connections = trace?.connections else { return [] }
        var items: [RecordedItem] = []
        for place in connections.indices {
            items += connections[place].items
            trace?.connections[place].items = []
        }
        return items
    }

    /// The trace, now that everything was read.
    public mutating func finish() throws(TraceReadError) -> RecordedTrace {
        try endFile()
        guard var trace else {
            line = 1
            throw fault("the file is empty; \(Self.firstLine)")
        }
        if !hasSummary {
            line += 1
            note("the trace ends here without a summary: it goes on in another file, or its writer was stopped")
        }
        trace.notes = notes
        return trace
    }

    private static let firstLine =
        "expected the first line of a trace, {\"event\":\"trace\",\"version\":\(NDJSONWriter.version),…}"

    private func fault(_ message: String) -> TraceReadError {
        TraceReadError(file: file, line: line, message: message)
    }

    private mutating func endFile() throws(TraceReadError) {
        guard !partial.isEmpty else { return }
        line += 1
        throw fault(
            line == 1
                ? "this is no trace; \(Self.firstLine)"
                : "the line is cut off after \(partial.count) bytes; expected a whole line of JSON with a line feed behind it"
        )
    }

    private mutating func take(_ text: RawSpan) throws(TraceReadError) {
        line += 1
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: text)
        } catch {
            if line == 1 {
                throw fault("this is no trace, it begins with \(Self.beginning(of: text)); \(Self.firstLine)")
            }
            guard Self.isCutLine(text) else { throw fault("this is no JSON: \(error)") }
            return try takeWhatFollows(text)
        }
        let event = RecordedLine(value, file: file, line: line)
        let name = try event.text("event")
        if line == 1 { return try begin(event, name) }
        if hasSummary, name != "trace" {
            throw fault("found \"event\":\"\(name)\" behind the summary; expected the end of the trace")
        }
        try take(event, name)
    }

    private static let lineStart = Array("{\"event\":\"".utf8)

    /// Whether a line begins as all do, as far as it goes, or until another one begins in it.
    private static func isCutLine(_ text: RawSpan) -> Bool {
        let bytes = text.copied(0..<min(text.byteCount, lineStart.count))
        let same = zip(bytes, lineStart).prefix { $0 == $1 }.count
        return same == bytes.count || same > 0 && bytes[same] == UInt8(ascii: "{")
    }

    /// A line was cut, by a full disk: what follows it in the same line is another one, where it is whole.
    private mutating func takeWhatFollows(_ text: RawSpan) throws(TraceReadError) {
        let bytes = text.copied(0..<text.byteCount)
        var place = bytes.count - Self.lineStart.count
        while place > 0 {
            if bytes[place] == UInt8(ascii: "{"), bytes[place...].starts(with: Self.lineStart),
                let value = try? JSONValue(parsing: text.extracting(place..<bytes.count))
            {
                note("the line is cut off after \(place) bytes; what follows is read")
                let event = RecordedLine(value, file: file, line: line)
                return try take(event, try event.text("event"))
            }
            place -= 1
        }
        note("the line is cut off after \(bytes.count) bytes; it is skipped")
    }

    /// The beginning of what is no trace, as an error may show it.
    private static func beginning(of text: RawSpan) -> String {
        let bytes = text.copied(0..<min(24, text.byteCount))
        return "\"\(PrintableText.of(String(decoding: bytes, as: UTF8.self)))\(text.byteCount > 24 ? "…" : "")\""
    }

    private mutating func begin(_ event: RecordedLine, _ name: String) throws(TraceReadError) {
        guard name == "trace" else { throw fault("found \"event\":\"\(name)\"; \(Self.firstLine)") }
        let version = try event.integer("version")
        guard version == NDJSONWriter.version else {
            throw fault("this is version \(version) of the trace format; expected version \(NDJSONWriter.version)")
        }
        let source = try event.text("source")
        if trace == nil { trace = RecordedTrace(source: source) }
    }

    private mutating func take(_ event: RecordedLine, _ name: String) throws(TraceReadError) {
        switch name {
        case "summary": hasSummary = true
        case "trace":
            try begin(event, name)
            isResumed = true
            hasSummary = false
        case "opened": try open(event)
        case "format", "frame", "missing", "unframed", "finding", "closed":
            let number = try event.integer("connection")
            if places[number] == nil { try pickUp(number, event) }
            guard let place = places[number] else { return }
            try add(event, name, to: place)
        default: break
        }
    }

    private mutating func open(_ event: RecordedLine) throws(TraceReadError) {
        let number = try event.integer("connection")
        if places[number] != nil, !isResumed {
            throw fault("connection \(number) opens a second time; expected another number")
        }
        places[number] = trace?.connections.count
        trace?.connections.append(
            RecordedConnection(
                number: number, opened: try event.time("time"), client: try event.text("client"),
                server: try event.text("server")))
    }

    /// A connection that was opened in another file, or in a line that is lost.
    private mutating func pickUp(_ number: Int, _ event: RecordedLine) throws(TraceReadError) {
        note("connection \(number) was opened before; its beginning is not here")
        places[number] = trace?.connections.count
        trace?.connections.append(
            RecordedConnection(number: number, opened: try event.time("time"), client: "unknown", server: "unknown"))
    }

    private mutating func add(_ event: RecordedLine, _ name: String, to place: Int) throws(TraceReadError) {
        switch name {
        case "format": trace?.connections[place].format = try event.text("format")
        case "frame": trace?.connections[place].items.append(.frame(try event.frame()))
        case "missing": trace?.connections[place].items.append(.missing(try event.run()))
        case "unframed": trace?.connections[place].items.append(.unframed(try event.unframed()))
        case "finding": trace?.connections[place].findings.append(try event.finding())
        default: trace?.connections[place].closing = try event.closing()
        }
    }
}
