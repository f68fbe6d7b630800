import Streams

/// A line of a trace on its way to values: says what it lacks.
struct RecordedLine {
    private let value: JSONValue
    private let file: String
    private let line: Int

    init(_ value: JSONValue, file: String, line: Int) {
        self.value = value
        self.file = file
        self.line = line
    }

    private func lacks(_ key: String, _ expected: String) -> TraceReadError {
        let found = value[key].map { "\"\(key)\" is \($0.compactText.prefix(40))" } ?? "there is no \"\(key)\""
        return TraceReadError(file: file, line: line, message: "\(found); expected \(expected)")
    }

    func text(_ key: String) throws(TraceReadError) -> String {
        guard let text = value[key]?.string else { throw lacks(key, "text") }
        return text
    }

    func integer(_ key: String) throws(TraceReadError) -> Int {
        guard let number = value[key]?.integer else { throw lacks(key, "a whole number") }
        return number
    }

    private func boolean(_ key: String) throws(TraceReadError) -> Bool {
        guard let value = value[key]?.boolean else { throw lacks(key, "true or false") }
        return value
    }

    func time(_ key: String) throws(TraceReadError) -> Timestamp {
        guard let text = value[key]?.string, let time = Timestamp(rfc3339: text) else {
            throw lacks(key, "a time such as 2026-11-21T08:00:00.000000000Z")
        }
        return time
    }

    private func object(_ key: String) throws(TraceReadError) -> JSONValue {
        guard let object = value[key], case .object = object else { throw lacks(key, "an object") }
        return object
    }

    private func from() throws(TraceReadError) -> Direction {
        guard let from = Direction.allCases.first(where: { .text($0.sender) == value["from"] }) else {
            throw lacks("from", "client or server")
        }
        return from
    }

    func frame() throws(TraceReadError) -> RecordedFrame {
        let type = value["type"] ?? .null
        guard type == .null || type.string != nil else { throw lacks("type", "text or null") }
        return RecordedFrame(
            connection: try integer("connection"), from: try from(), index: try integer("index"),
            time: try time("time"), started: try time("started"), offset: try integer("offset"),
            length: try integer("length"), segments: try integer("segments"), merged: try boolean("merged"),
            type: type.string, isHeartbeat: try boolean("heartbeat"), fields: try object("fields"),
            body: try object("body"))
    }

    func run() throws(TraceReadError) -> RecordedRun {
        RecordedRun(
            from: try from(), time: try time("time"), offset: try integer("offset"), length: try integer("length"))
    }

    func unframed() throws(TraceReadError) -> RecordedRun {
        var run = try run()
        run.reason = try text("reason")
        run.hex = try text("hex")
        return run
    }

    func finding() throws(TraceReadError) -> RecordedFinding {
        RecordedFinding(
            kind: try text("kind"), severity: try text("severity"), from: try from(), time: try time("time"),
            message: try text("message"))
    }

    func closing() throws(TraceReadError) -> RecordedClosing {
        let by = try value["by"] == .null ? nil : text("by")
        return RecordedClosing(
            time: try time("time"), reason: try text("reason"), by: Direction.allCases.first { $0.sender == by })
    }
}
