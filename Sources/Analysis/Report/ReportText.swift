import Framing
import Streams
import Trace

/// A report as human-readable text: a time line of two rows for each connection, tables, and findings.
package enum ReportText {
    /// The report's lines.
    ///
    /// - Parameter columns: the terminal's width.
    package static func lines(_ report: Report, columns: Int = 120) -> [String] {
        var lines: [String] = []
        for connection in report.connections { lines += self.lines(connection, columns: columns) + [""] }
        if report.unlisted > 0 {
            lines += ["\(Quantities.counted(report.unlisted, "more connection")), not listed one by one", ""]
        }
        if !report.connections.isEmpty { lines += [legend, ""] }
        if !report.roundTrips.isEmpty {
            lines += ["Round trips"] + table([ReportWords.roundTripHeads] + report.roundTrips.map(ReportWords.cells))
            lines.append("")
        }
        for (title, table) in ReportWords.deliveryTables(report) { lines += [title] + self.table(table) + [""] }
        lines += findings(report, columns: columns)
        return lines + SummaryText.lines(report.summary)
    }

    private static let legend =
        "♥ heartbeat  ▪ other frames  ◆ both  ✗ no heartbeat for too long  ! missing or unframed bytes"

    private static func lines(_ connection: ConnectionReport, columns: Int) -> [String] {
        let format = connection.format ?? "not recognized"
        var lines = [
            "#\(connection.opening.number)  \(ReportWords.ends(connection))  \(format)  \(ReportWords.life(connection))"
        ]
        let width = max(20, min(TimeLine.most, columns - 4))
        for direction in Direction.allCases {
            lines.append("  \(arrow(direction)) \(row(connection, direction, width: width))")
        }
        for direction in Direction.allCases {
            lines.append("  \(arrow(direction)) \(ReportWords.amount(connection, direction))")
            if let cuts = ReportWords.cuts(connection, direction) { lines.append("    \(cuts)") }
            let types = connection.types[direction].sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            if types.count > 1 || types.first?.key != "-" {
                let shown = types.prefix(12).map {
                    "\(PrintableText.of($0.key, columns: 24)) \(Quantities.grouped($0.value))"
                }
                if !shown.isEmpty { lines.append("    \(shown.joined(separator: ", "))") }
            }
        }
        if let tcp = ReportWords.tcp(connection) { lines.append("  TCP: \(tcp)") }
        for gap in connection.gaps.prefix(20) {
            let start = ReportWords.clock(gap.start, besides: connection.opening.time)
            let end =
                gap.end.map {
                    " to \(ReportWords.clock($0, besides: gap.start)) (\(($0 - gap.start).text(digits: true)))"
                } ?? ""
            let why = gap.reason.isEmpty ? "" : ": \(gap.blame), \(gap.reason)"
            lines.append("  \(arrow(gap.from)) no heartbeat from \(start)\(end)\(why)")
        }
        if connection.gaps.count > 20 { lines.append("  \(connection.gaps.count - 20) more gaps") }
        if !connection.roundTrips.isEmpty {
            lines += table(
                [Array(ReportWords.roundTripHeads.dropFirst())]
                    + connection.roundTrips.map { Array(ReportWords.cells($0).dropFirst()) })
        }
        return lines
    }

    private static func row(_ connection: ConnectionReport, _ direction: Direction, width: Int) -> String {
        let cells = connection.timeLine.columns(direction, count: width, until: connection.end)
        let start = connection.timeLine.start
        let total = Double(max(1, (connection.end - start).nanoseconds))
        return cells.enumerated().map { index, cell in
            if cell.isDamaged { return "!" }
            if cell.heartbeats > 0 { return cell.frames > 0 ? "◆" : "♥" }
            if cell.frames > 0 { return "▪" }
            let time = start + Interval(nanoseconds: Int64(total * (Double(index) + 0.5) / Double(width)))
            let isGap = connection.gaps.contains {
                $0.from == direction && $0.start <= time && time <= $0.end ?? connection.end
            }
            return isGap ? "✗" : "·"
        }.joined()
    }

    private static func findings(_ report: Report, columns: Int) -> [String] {
        guard !report.findings.isEmpty else { return ["Nothing was found.", ""] }
        var lines = ["Findings"]
        let opened = report.connections.first?.opening.time
        // All of them, or none: the times stay below each other.
        let areDated = report.findings.prefix(200).contains { finding in
            opened.map { ReportWords.date($0) != ReportWords.date(finding.time) } ?? true
        }
        for finding in report.findings.prefix(200) {
            let sign = finding.severity == .info ? "ℹ" : "⚠"
            let date = areDated ? ReportWords.date(finding.time) + " " : ""
            lines.append(
                "  \(sign) \(date)\(ReportWords.clock(finding.time))  #\(finding.connection) \(arrow(finding.from))  \(finding.kind.rawValue)  "
                    + PrintableText.of(finding.message, columns: 240) + packet(finding))
        }
        let more = report.findings.count - 200 + report.moreFindings
        if more > 0 { lines.append("  \(Quantities.counted(more, "more finding")); --as json has more of them") }
        return lines + [""]
    }

    private static func packet(_ finding: Finding) -> String {
        finding.packet.map { "  (packet \($0))" } ?? ""
    }

    private static func arrow(_ direction: Direction) -> String { direction == .fromClient ? "→" : "←" }

    /// Columns as wide as needed; the first two left-aligned, numbers right-aligned.
    private static func table(_ rows: [[String]]) -> [String] {
        let rows = rows.map { $0.map { PrintableText.of($0, columns: 48) } }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { column < $0.count ? DisplayWidth.of($0[column]) : 0 }.max() ?? 0
        }
        // Names come first: everything up to the column of counts.
        let names = (rows.first?.firstIndex { ["count", "sent", "rounds"].contains($0) } ?? 2)
        return rows.map { row in
            "  "
                + row.enumerated().map { column, text in
                    let space = String(repeating: " ", count: widths[column] - DisplayWidth.of(text))
                    return column < names ? text + space : space + text
                }.joined(separator: "  ")
        }
    }
}
