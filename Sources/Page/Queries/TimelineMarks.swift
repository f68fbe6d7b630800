import Streams
import Trace

/// What went wrong, or was done, at a time. `source/marks.js` makes the same marks of a trace's lines; a test of each side reads
/// `fixtures/parity.json`.
struct TimelineMark {
    var at: Int64
    var to: Int64?
    var kind: String
    var from: Direction?
    var blame: String?
    var severity: String?
    var text: String
    var event: Int

    /// Writes it as an object.
    func write(to json: inout JSONText) {
        json.object { json in
            json.member("at", time: at)
            json.member("to", time: to)
            json.member("kind", kind)
            json.member("from", from?.sender)
            json.member("blame", blame)
            json.member("severity", severity)
            json.member("text", text)
            json.member("event", event)
        }
    }
}

/// The marks of a lane, in the order of their events.
struct TimelineMarks {
    private(set) var shown: [TimelineMark] = []
    /// How many more there are.
    private(set) var more = 0

    /// - Parameter most: the largest number of marks.
    init(of lane: ConnectionState, _ reading: LaneReading, _ store: EventStore, most: Int) {
        let gaps = lane.gaps.all.compactMap { gap -> TimelineMark? in
            guard gap.start <= reading.to, gap.end ?? .max >= reading.from else { return nil }
            return TimelineMark(
                at: gap.start, to: gap.end, kind: "heartbeat-gap", from: gap.from, blame: gap.blame,
                severity: gap.severity,
                text: gap.message, event: gap.event)
        }
        let others = reading.marks.prefix(most).compactMap { Self.mark(of: $0, lane, store) }
        let all = (gaps + others).sorted { $0.event < $1.event }
        shown = Array(all.prefix(max(0, most)))
        let unread = reading.marks.count - reading.marks.prefix(most).count
        more = all.count - shown.count + unread + reading.unlisted
    }

    /// The mark of an event; nil if it is shown as a time without heartbeats, or as the connection's end.
    private static func mark(of entry: ListEntry, _ lane: ConnectionState, _ store: EventStore) -> TimelineMark? {
        if entry.kind == .finding, lane.gaps.has(Int(entry.event)) { return nil }
        guard let record = store.record(Int(entry.event)), let event = store.event(record) else { return nil }
        var mark = TimelineMark(
            at: entry.time, kind: entry.kind.name, from: record.from, severity: "warning", text: "",
            event: Int(entry.event))
        switch event {
        case .finding(let finding):
            if ["unanswered", "heartbeat-unanswered"].contains(finding.kind) { mark.kind = "unanswered" }
            (mark.severity, mark.text) = (finding.severity, String(finding.message.prefix(512)))
        case .closed(let closed):
            guard closed.reason == "reset" else { return nil }
            (mark.kind, mark.text) = ("reset", "reset" + (closed.by.map { " by \($0.sender)" } ?? ""))
        case .missing(let run), .unframed(let run), .dropped(let run):
            mark.text =
                "\(Quantities.counted(run.length, "byte")) \(mark.kind)" + (run.reason.isEmpty ? "" : ", \(run.reason)")
        case .action(let action):
            mark.severity = "info"
            mark.text = "\(action.report.action.prefix(64)) by \(action.report.rule.prefix(256))"
        case .trace, .opened, .tls, .format, .frame, .summary: return nil
        }
        return mark
    }
}
