import Framing
import Streams

/// What a rule of the proxy did.
public struct ActionEvent: Hashable, Sendable {
    /// The connection's number.
    public var connection: Int
    /// What it did, to what, and when.
    public var report: ActionReport

    /// The members of its line after the connection, in their order.
    var members: [JSONValue.Member] { report.members }

    /// What a rule did.
    package init(connection: Int, report: ActionReport) { (self.connection, self.report) = (connection, report) }

    /// What a rule did, without the frame's bytes if they may be secret.
    package init(_ report: ActionReport, on connection: TracedConnection) {
        self.init(connection: connection.number, report: report)
        // What the format is may follow from later bytes.
        if connection.known?.format.secrets.isEmpty != true {
            (self.report.before, self.report.after) = ([], [])
        }
    }
}

extension ActionEvent {
    /// Some of the members of its line, as an object in JSON.
    package func text(of names: [String]) -> String {
        JSONValue.object(members.filter { names.contains($0.name) }).compactText
    }
}

extension ActionReport {
    fileprivate var members: [JSONValue.Member] {
        func number(_ number: Int) -> JSONValue { .number("\(number)") }
        return [
            JSONValue.Member("from", .text(direction.sender)), JSONValue.Member("time", .text(time.rfc3339Text)),
            JSONValue.Member("rule", .text(rule)), JSONValue.Member("action", .text(action)),
            JSONValue.Member("index", index.map(number) ?? .null),
            JSONValue.Member("type", type.map { .text($0) } ?? .null),
            JSONValue.Member("offset", number(offset)), JSONValue.Member("length", number(length)),
            JSONValue.Member("passed", number(passed)), JSONValue.Member("detail", .text(detail)),
            JSONValue.Member("proven", isProven.map { .boolean($0) } ?? .null),
            JSONValue.Member("before", .text(Hexadecimal.text(before))),
            JSONValue.Member("after", .text(Hexadecimal.text(after))),
        ]
    }

    /// A report from a line's members; nil if one that is needed is missing.
    package init?(_ line: JSONValue) {
        guard let direction = Direction.allCases.first(where: { $0.sender == line["from"]?.string }),
            let time = line["time"]?.string.flatMap({ Timestamp(rfc3339: $0) }), let rule = line["rule"]?.string,
            let action = line["action"]?.string, let offset = line["offset"]?.integer,
            let length = line["length"]?.integer, let passed = line["passed"]?.integer
        else { return nil }
        func bytes(_ key: String) -> [UInt8] { line[key]?.string.flatMap { Hexadecimal.bytes($0.utf8) } ?? [] }
        self.init(
            rule: rule, action: action, direction: direction, time: time, index: line["index"]?.integer,
            type: line["type"]?.string, offset: offset, length: length, passed: passed,
            detail: line["detail"]?.string ?? "", before: bytes("before"), after: bytes("after"))
        isProven = line["proven"]?.boolean
    }

    /// The members as JSON: how a recording annotates a packet.
    package var annotation: String { JSONValue.object(members).compactText }

    /// A report from an annotation; nil if it is not one.
    package static func read(annotation text: String) -> ActionReport? {
        let bytes = Array(text.utf8)
        return (try? JSONValue(parsing: bytes.span.bytes)).flatMap { ActionReport($0) }
    }
}
