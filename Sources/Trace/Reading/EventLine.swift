import Framing
import Streams

/// A line of a trace being parsed into an event: reports what it lacks.
struct EventLine {
    private let value: JSONValue
    private let file: String
    private let line: Int

    init(_ value: JSONValue, file: String, line: Int) {
        self.value = value
        self.file = file
        self.line = line
    }

    /// The event; nil for one of an unknown kind.
    func event() throws(TraceReadError) -> TraceEvent? {
        switch try name() {
        case "trace":
            return .trace(
                TraceStart(
                    version: try integer("version"), source: try text("source"), tool: optionalText("tool"),
                    unwritten: try count(value["unwritten"], "unwritten")))
        case "opened": return .opened(try opened())
        case "tls":
            return .tls(
                TLSEvent(connection: try integer("connection"), time: try time("time"), facts: TLSFacts(value)))
        case "format":
            return .format(
                FormatEvent(
                    connection: try integer("connection"), leg: leg, format: try text("format"), by: optionalText("by"),
                    evidence: optionalText("evidence")))
        case "frame": return .frame(try frame())
        case "missing": return .missing(try run())
        case "unframed":
            var run = try run()
            (run.reason, run.detail, run.hex) = (try text("reason"), optionalText("detail"), try text("hex"))
            return .unframed(run)
        case "dropped":
            var run = try run()
            run.reason = optionalText("reason")
            return .dropped(run)
        case "finding": return .finding(try finding())
        case "action":
            for key in ["offset", "length", "passed"] { _ = try integer(key) }
            if let index = value["index"], index != .null { _ = try integer("index") }
            guard let report = ActionReport(value) else { throw lacks("action", "what a rule did") }
            return .action(ActionEvent(connection: try integer("connection"), report: report))
        case "closed": return .closed(try closed())
        case "summary": return .summary(try summary())
        default: return nil
        }
    }

    /// The kind of event.
    func name() throws(TraceReadError) -> String { try text("event") }

    // MARK: Events

    private func opened() throws(TraceReadError) -> OpenedEvent {
        var opened = OpenedEvent(
            connection: try integer("connection"), leg: leg, time: try time("time"), client: try text("client"),
            server: try text("server"))
        opened.transport = value["transport"]?.string ?? opened.transport
        opened.handshake = value["handshake"]?.boolean ?? opened.handshake
        opened.clientGuessed = value["clientGuessed"]?.boolean ?? opened.clientGuessed
        return opened
    }

    private func frame() throws(TraceReadError) -> FrameEvent {
        let type = value["type"] ?? .null
        guard type == .null || type.string != nil else { throw lacks("type", "text or null") }
        return FrameEvent(
            connection: try integer("connection"), leg: leg, from: try from(), index: try integer("index"),
            time: try time("time"), started: try time("started"), offset: try integer("offset"),
            length: try integer("length"), segments: try integer("segments"), merged: try boolean("merged"),
            type: type.string, isHeartbeat: try boolean("heartbeat"), fields: try object("fields"),
            body: try object("body"))
    }

    private func run() throws(TraceReadError) -> RunEvent {
        RunEvent(
            connection: try integer("connection"), leg: leg, from: try from(), time: try time("time"),
            offset: try integer("offset"), length: try integer("length"))
    }

    private func finding() throws(TraceReadError) -> FindingEvent {
        FindingEvent(
            connection: try integer("connection"), leg: leg, from: try from(), time: try time("time"),
            kind: try text("kind"),
            severity: try text("severity"), message: try text("message"), data: value["data"] ?? .object([]))
    }

    private func closed() throws(TraceReadError) -> ClosedEvent {
        let by = try value["by"] == .null ? nil : text("by")
        return ClosedEvent(
            connection: try integer("connection"), leg: leg, time: try time("time"), reason: try text("reason"),
            by: Direction.allCases.first { $0.sender == by },
            counts: PerDirection(
                fromClient: try counts(in: value["client"]), fromServer: try counts(in: value["server"])))
    }

    private func summary() throws(TraceReadError) -> SummaryEvent {
        func count(_ key: String) throws(TraceReadError) -> Int { try self.count(value[key], key) }
        var summary = SummaryEvent()
        (summary.connections, summary.bytes) = (try count("connections"), try counts(in: value))
        if let out = value["out"] { summary.passedOn = try counts(in: out) }
        summary.dropped = try count("dropped")
        (summary.split, summary.merged) = (try count("split"), try count("merged"))
        (summary.heartbeats, summary.unrecorded) = (try count("heartbeats"), try count("unrecorded"))
        summary.findings = try list(value["findings"])
        summary.skipped = try list(value["skipped"] ?? value["passedOver"])
        summary.unwritten = try count("unwritten")
        return summary
    }

    private func counts(in value: JSONValue?) throws(TraceReadError) -> ByteCounts {
        func count(_ key: String) throws(TraceReadError) -> Int { try self.count(value?[key], key) }
        var counts = ByteCounts()
        (counts.framed, counts.unframed) = (try count("framed"), try count("unframed"))
        counts.padding = try count("padding")
        (counts.missing, counts.frames) = (try count("missing"), try count("frames"))
        return counts
    }

    private func list(_ value: JSONValue?) throws(TraceReadError) -> [SummaryEvent.Count] {
        guard case .object(let members)? = value else { return [] }
        var counts: [SummaryEvent.Count] = []
        for member in members {
            counts.append(SummaryEvent.Count(kind: member.name, count: try count(member.value, member.name)))
        }
        return counts
    }

    // MARK: Values

    private func lacks(_ key: String, _ expected: String) -> TraceReadError {
        lacks(value[key], key, expected)
    }

    private func lacks(_ value: JSONValue?, _ key: String, _ expected: String) -> TraceReadError {
        let found = value.map { "\"\(key)\" is \($0.compactText.prefix(40))" } ?? "there is no \"\(key)\""
        return TraceReadError(file: file, line: line, message: "\(found); expected \(expected)")
    }

    private func optionalText(_ key: String) -> String { value[key]?.string ?? "" }

    private func text(_ key: String) throws(TraceReadError) -> String {
        guard let text = value[key]?.string else { throw lacks(key, "text") }
        return text
    }

    /// The numbers that lengths, offsets and counts may have: JSON's readers agree on them, and sums of two do not overflow.
    private static let numbers = 0...1 << 53

    private func integer(_ key: String) throws(TraceReadError) -> Int {
        guard let number = value[key]?.integer, Self.numbers.contains(number) else {
            throw lacks(key, "a whole number from 0 to 2^53")
        }
        return number
    }

    /// A count that may be absent.
    private func count(_ value: JSONValue?, _ key: String) throws(TraceReadError) -> Int {
        guard case .number? = value else { return 0 }
        guard let number = value?.integer, Self.numbers.contains(number) else {
            throw lacks(value, key, "a whole number from 0 to 2^53")
        }
        return number
    }

    private func boolean(_ key: String) throws(TraceReadError) -> Bool {
        guard let value = value[key]?.boolean else { throw lacks(key, "true or false") }
        return value
    }

    private func time(_ key: String) throws(TraceReadError) -> Timestamp {
        guard let text = value[key]?.string, let time = Timestamp(rfc3339: text) else {
            throw lacks(key, "a time such as 2026-11-21T08:00:00.000000000Z")
        }
        return time
    }

    private func object(_ key: String) throws(TraceReadError) -> JSONValue {
        guard let object = value[key], case .object = object else { throw lacks(key, "an object") }
        return object
    }

    private var leg: Leg? { value["leg"]?.string.flatMap { Leg(rawValue: $0) } }

    private func from() throws(TraceReadError) -> Direction {
        guard let from = Direction.allCases.first(where: { .text($0.sender) == value["from"] }) else {
            throw lacks("from", "client or server")
        }
        return from
    }
}
