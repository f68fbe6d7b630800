import Framing
import Streams
import Trace

/// A report as one JSON object, for programs.
package enum ReportJSON {
    /// The report, followed by a line end.
    package static func bytes(_ report: Report, tool: String) -> [UInt8] {
        var bytes: [UInt8] = []
        value(report, tool: tool).write(into: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private static func value(_ report: Report, tool: String) -> JSONValue {
        var findings: [String: Int] = [:]
        for (kind, count) in report.summary.total.findings { findings[kind.rawValue] = count }
        let total = report.summary.total
        return .members([
            ("report", .integer(1)), ("tool", .text(tool)), ("source", .text(report.source)),
            (
                "summary",
                .members([
                    ("connections", .integer(total.connections)), ("frames", .integer(total.bytes.frames)),
                    ("bytes", .integer(total.bytes.bytes)), ("missing", .integer(total.bytes.missing)),
                    ("unframed", .integer(total.bytes.unframed)), ("split", .integer(total.split)),
                    ("merged", .integer(total.merged)), ("heartbeats", .integer(total.heartbeats)),
                    ("findings", .members(findings.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })),
                ])
            ),
            ("roundTrips", .array(report.roundTrips.map(roundTrip))),
            ("deliveries", .array(report.deliveries.map(delivery))),
            ("broadcasts", .array(report.broadcasts.map(broadcast))),
            ("connections", .array(report.connections.map(connection))),
            ("unlistedConnections", .integer(report.unlisted)),
            ("findings", .array(report.findings.map(finding))), ("moreFindings", .integer(report.moreFindings)),
        ])
    }

    private static func connection(_ connection: ConnectionReport) -> JSONValue {
        let opening = connection.opening
        // Each with its type: together, they take the compiler a second.
        let format: JSONValue = connection.format.map(JSONValue.text) ?? .null
        let reason: JSONValue = connection.closing.map { .text($0.reason.rawValue) } ?? .null
        let by: JSONValue = connection.closing?.by.map { .text($0.sender) } ?? .null
        return .members([
            ("connection", .integer(opening.number)), ("client", .text(opening.client.description)),
            ("server", .text(opening.server.description)), ("format", format),
            ("opened", .text(opening.time.rfc3339)), ("closed", .text(connection.end.rfc3339)),
            ("reason", reason), ("by", by),
            ("fromClient", side(connection, .fromClient)), ("fromServer", side(connection, .fromServer)),
            ("gaps", .array(connection.gaps.map(gap))),
            ("roundTrips", .array(connection.roundTrips.map(roundTrip))),
            ("tcp", connection.tcp.map(tcp) ?? .null), ("findings", .integer(connection.findings)),
            ("timeLineStep", .number(connection.timeLine.step.seconds)),
        ])
    }

    private static func side(_ connection: ConnectionReport, _ direction: Direction) -> JSONValue {
        let counts = connection.counts[direction]
        let types = connection.types[direction].sorted { $0.key < $1.key }
        return .members([
            ("bytes", .integer(counts.bytes)), ("frames", .integer(counts.frames)),
            ("heartbeats", .integer(connection.heartbeats[direction])), ("missing", .integer(counts.missing)),
            ("unframed", .integer(counts.unframed)),
            ("types", .members(types.map { ($0.key, .integer($0.value)) })),
            ("framesBySegments", .array(connection.cuts[direction].frames.map { .integer($0) })),
            ("segmentsByFrames", .array(connection.cuts[direction].chunks.map { .integer($0) })),
            (
                "timeLine",
                .array(
                    connection.timeLine.cells[direction].map {
                        .array([.integer($0.frames), .integer($0.heartbeats), .integer($0.bytes)])
                    })
            ),
        ])
    }

    private static func gap(_ gap: ConnectionReport.Gap) -> JSONValue {
        .members([
            ("from", .text(gap.from.sender)), ("start", .text(gap.start.rfc3339)),
            ("end", gap.end.map { .text($0.rfc3339) } ?? .null), ("blame", .text(gap.blame)),
            ("reason", .text(gap.reason)),
        ])
    }

    private static func roundTrip(_ row: RoundTripRow) -> JSONValue {
        .members(
            [
                ("format", .text(row.format)), ("request", .text(row.request)), ("answer", .text(row.answer)),
                ("from", .text(row.from.sender)),
            ] + times(row.times))
    }

    private static func delivery(_ row: (format: String, outcome: Deliveries.Outcome)) -> JSONValue {
        let outcome = row.outcome
        return .members([
            ("format", .text(row.format)), ("sent", .integer(outcome.sent)), ("delivered", .integer(outcome.delivered)),
            ("missing", .integer(outcome.missing)), ("twice", .integer(outcome.twice)),
            ("outOfOrder", .integer(outcome.outOfOrder)), ("absent", .integer(outcome.absent)),
            ("times", .members(times(outcome.times))),
        ])
    }

    private static func broadcast(_ row: (format: String, outcome: BroadcastSkew.Outcome)) -> JSONValue {
        .members([
            ("format", .text(row.format)), ("rounds", .integer(row.outcome.rounds)),
            ("incomplete", .integer(row.outcome.incomplete)), ("skew", .members(times(row.outcome.seen))),
            ("skewByStamps", .members(times(row.outcome.stamped))),
        ])
    }

    private static func times(_ times: RoundTripTimes) -> [(String, JSONValue)] {
        [
            ("count", .integer(times.count)), ("min", .number(times.minimum.seconds)),
            ("p50", .number(times.percentile(50).seconds)), ("p90", .number(times.percentile(90).seconds)),
            ("p99", .number(times.percentile(99).seconds)), ("max", .number(times.maximum.seconds)),
            ("buckets", .array(times.buckets.map { .integer($0) })),
        ]
    }

    private static func tcp(_ tcp: TCPRoundTrips.Times) -> JSONValue {
        .members([
            ("handshake", tcp.handshake.map { .number($0.seconds) } ?? .null),
            ("acknowledgedByServer", .members(times(tcp.acknowledgments.fromClient))),
            ("acknowledgedByClient", .members(times(tcp.acknowledgments.fromServer))),
        ])
    }

    private static func finding(_ finding: Finding) -> JSONValue {
        .members([
            ("connection", .integer(finding.connection)), ("from", .text(finding.from.sender)),
            ("time", .text(finding.time.rfc3339)), ("kind", .text(finding.kind.rawValue)),
            ("severity", .text(finding.severity.rawValue)), ("message", .text(finding.message)),
            ("data", .fields(finding.data)),
        ])
    }
}
