import Framing
import Streams
import Trace

/// What lists show of an event, as JSON: written once, when the event is stored, so that showing it costs no more than reading it.
enum EventRow {
    /// - Parameters:
    ///   - event: the event.
    ///   - number: its number.
    ///   - time: its time, or, if it has none, that of the event before it on its connection.
    static func of(_ event: TraceEvent, number: Int, _ record: EventRecord, isSecret: Bool) -> [UInt8] {
        JSONText.object { row in
            row.member("event", number)
            row.member("kind", record.kind.name)
            row.member("connection", Int(record.connection))
            row.member("from", record.from?.sender)
            row.member("leg", record.leg?.rawValue)
            row.member("time", time: record.time)
            switch event {
            case .frame(let frame): write(frame, isSecret, to: &row)
            case .finding(let finding):
                row.member("findingKind", finding.kind)
                row.member("severity", finding.severity)
                row.member("message", String(finding.message.prefix(1_024)))
                row.member("index", event: finding.data["index"]?.integer)
            case .missing(let run), .unframed(let run), .dropped(let run):
                row.member("offset", run.offset)
                row.member("length", run.length)
                row.member("reason", run.reason.isEmpty ? nil : run.reason)
                row.member("detail", String(run.detail.prefix(512)))
            case .action(let action):
                row.member("action", action.report.action)
                row.member("rule", String(action.report.rule.prefix(512)))
                row.member("index", event: action.report.index)
                row.member("type", action.report.type.map { String($0.prefix(256)) })
                row.member("detail", String(action.report.detail.prefix(512)))
            case .trace, .opened, .tls, .format, .closed, .summary: row.member("text", text(of: event))
            }
        }
    }

    private static func write(_ frame: FrameEvent, _ isSecret: Bool, to row: inout JSONText) {
        row.member("index", frame.index)
        row.member("type", frame.type.map { String($0.prefix(256)) })
        row.member("length", frame.length)
        row.member("segments", frame.segments)
        row.member("merged", frame.merged)
        row.member("heartbeat", frame.isHeartbeat)
        row.member("missing", frame.body["missing"]?.integer ?? 0)
        row.member("preview", FramePreview.of(frame))
        row.member("secret", isSecret)
    }

    /// An event in a line.
    private static func text(of event: TraceEvent) -> String {
        switch event {
        case .trace(let start): start.source
        case .opened(let opened):
            "\(opened.client) → \(opened.server)" + (opened.handshake ? "" : ", picked up mid-stream")
                + (opened.clientGuessed ? ", client guessed" : "")
        case .tls(let tls): PrintableText.of(TLSText.of(tls.facts), columns: 320)
        case .format(let format):
            PrintableText.of("\(format.format) (by \(format.by)): \(format.evidence)", columns: 320)
        case .closed(let closed): closed.reason + (closed.by.map { " by \($0.sender)" } ?? "")
        case .summary(let summary): "\(summary.connections) connections, \(summary.bytes.frames) frames"
        case .frame, .missing, .unframed, .dropped, .finding, .action: ""
        }
    }

    /// Whether a line shows that something of the frame is secret.
    static func hasSecrets(_ line: [UInt8]) -> Bool {
        line.span.bytes.firstRange(of: secretBytes, from: 0) != nil
    }

    private static let secretBytes = Array(JSONRedaction.mark.utf8)
}
