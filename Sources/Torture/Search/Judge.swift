import Framing
import Streams
import Trace
import TraceDiff

/// Compares what a server said in a run with the baseline.
struct Judge: Sendable {
    let script: Script
    let comparison: Comparison
    let expected: [[RecordedItem]]
    let patience: Interval
    /// How the server ended each connection, if that is the same each time.
    let ends: [Ending?]?
    /// The values that are compared, but not shown; nil: all are shown.
    let hidden: HiddenValues?

    /// A run as a trace: what the server said.
    static func trace(of items: [[RecordedItem]], _ script: Script) -> RecordedTrace {
        var trace = RecordedTrace(source: "run")
        trace.connections = zip(script.connections, items).map { recorded, items in
            var connection = RecordedConnection(
                number: recorded.number, opened: Timestamp(nanoseconds: 0), client: "", server: "")
            connection.format = recorded.format
            connection.items = RecordedItems(items)
            return connection
        }
        return trace
    }

    /// What is wrong with a run; nil if nothing is.
    func symptom(of outcome: Outcome) -> String? {
        switch outcome.failure {
        case .noAnswer: return "no answer in \(patience.rounded)"
        case .closed(.fin, _): return "the server closes the connection"
        case .closed(.reset, _): return "the server resets the connection"
        case .refused(let why): return "the server does not accept the connection: \(why)"
        case .notClosed: return "the server no longer closes the connection after the client"
        case nil: break
        }
        if let ends, outcome.ends != ends {
            return outcome.ends.contains(.reset)
                ? "the server resets the connection at its end" : "the server ends the connection otherwise"
        }
        if zip(expected, outcome.items).allSatisfy({ $0.map(\.said) == $1.map(\.said) }) { return nil }
        let difference = TraceComparison.compare(
            expected: Self.trace(of: expected, script), actual: Self.trace(of: outcome.items, script), comparison)
        guard !difference.isEmpty else { return nil }
        for conversation in difference.conversations {
            if let text = first(in: conversation) { return text }
        }
        return "the answers differ"
    }

    /// The first difference of a connection, in words.
    func first(in conversation: ConversationDifference) -> String? {
        let place =
            script.connections.count > 1
            ? " on connection \(conversation.expected?.number ?? conversation.actual?.number ?? 0)" : ""
        for row in conversation.rows {
            switch row {
            case .same: continue
            case .changed(let old, _, let changes):
                let answer = conversation.expectedItems[old]
                let values = changes.prefix(2).map { text(of: $0, from: answer.from) }
                return Self.short("\(Self.name(answer))\(place) differs: \(values.joined(separator: "; "))")
            case .removed(let old): return "\(Self.name(conversation.expectedItems[old]))\(place) is missing"
            case .added(let new): return "\(Self.name(conversation.actualItems[new]))\(place) is one too many"
            case .moved(let old, _), .crossed(let old, _):
                return "\(Self.name(conversation.expectedItems[old]))\(place) is at another place"
            }
        }
        if let beats = conversation.heartbeats.first(where: { !$0.isExplained }) {
            return "\(beats.actual) heartbeats\(place), not \(beats.expected)"
        }
        return nil
    }

    /// A value that differs, in words. Reports have it: what the format calls secret is not in it.
    private func text(of change: FieldChange, from direction: Direction) -> String {
        let shown = hidden?.shown(change, from: direction) ?? change
        if shown != change, shown.old == shown.new { return "\(shown.path) is another \(JSONRedaction.mark)" }
        return "\(shown.path) is \(shown.new?.compactText ?? "missing"), not \(shown.old?.compactText ?? "missing")"
    }

    private static func short(_ text: String) -> String { PrintableText.of(text, columns: 200) }

    private static func name(_ item: RecordedItem) -> String {
        switch item {
        case .frame(let frame): short("answer \(frame.index)" + (frame.type.map { " (`\($0)`)" } ?? ""))
        case .unframed(let run): "a run of \(run.length) bytes that are no frame"
        case .missing(let run): "a run of \(run.length) missing bytes"
        }
    }
}

extension Interval {
    /// `200 ms`
    var rounded: String {
        let millis = Double(nanoseconds) / 1e6
        if millis >= 1_000 { return "\((millis / 100).rounded() / 10) s" }
        return millis >= 10 ? "\(Int(millis.rounded())) ms" : "\((millis * 10).rounded() / 10) ms"
    }
}

extension RecordedItem {
    /// What was said, without time and place.
    fileprivate var said: Said {
        switch self {
        case .frame(let frame): .frame(frame.type, frame.fields, frame.body)
        case .unframed(let run): .unframed(run.hex)
        case .missing(let run): .missing(run.length)
        }
    }
}

private enum Said: Equatable {
    case frame(String?, JSONValue, JSONValue)
    case unframed(String)
    case missing(Int)
}
