import Framing
import Streams
import Trace

/// A report as one self-contained HTML page: no script, no network. Time lines are pictures in SVG.
public enum ReportHTML {
    /// The page.
    public static func page(_ report: Report, tool: String) -> String {
        var page = """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(escape(report.source)) – frametap</title>
            <style>\(style)</style></head><body>
            <h1>\(escape(report.source))</h1>
            <p class="faint">\(escape(tool))</p>
            <ul class="summary">\(SummaryText.lines(report.summary).map { "<li>\(escape($0))</li>" }.joined())</ul>

            """
        page += findings(report)
        if !report.roundTrips.isEmpty {
            page += "<h2>Round trips</h2>\n"
            page += table(
                ReportWords.roundTripHeads, report.roundTrips.map(ReportWords.cells), id: "round-trips", names: 2)
        }
        for (index, (title, rows)) in ReportWords.deliveryTables(report).enumerated() {
            page += "<h2>\(escape(title))</h2>\n"
            page += table(rows[0], Array(rows.dropFirst()), id: "deliveries-\(index)", names: 2)
        }
        page += "<h2>Connections</h2>\n" + legend
        for connection in report.connections { page += section(connection) }
        if report.unlisted > 0 {
            page += "<p>\(Quantities.counted(report.unlisted, "more connection")), not listed one by one.</p>\n"
        }
        return page + "</body></html>\n"
    }

    private static let style = """
        body{font:15px/1.45 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#1d2733;background:#fff}
        h1{font-size:1.5em;margin-bottom:0}h2{margin-top:2em}h3{margin:1.6em 0 .2em;font-size:1.05em}
        .faint{color:#667}.summary{padding-left:1.2em}
        table{border-collapse:collapse;margin:.6em 0;font-size:.92em}
        th,td{padding:.2em .7em;border-bottom:1px solid #dde3ea;text-align:right;vertical-align:top}
        th{color:#556;font-weight:600}.name{text-align:left}
        svg{width:100%;height:auto;background:#f7f9fb;border:1px solid #dde3ea;border-radius:4px}
        .client{fill:#2a6fb8}.server{fill:#5a7d2b}.beat{fill:#d1345b}.gap{fill:#f3b13a;fill-opacity:.45}
        .damage{fill:#8a1c1c}.label{font:11px system-ui,sans-serif;fill:#445}
        .error{color:#a11}.warning{color:#8a5a00}.info{color:#446}
        .key{display:inline-block;width:.8em;height:.8em;margin:0 .3em 0 1em}
        """

    private static let legend = """
        <p class="faint"><svg class="key" style="width:.8em;border:0" viewBox="0 0 10 10"><rect class="beat" width="10" height="10"/></svg>heartbeat
        <svg class="key" style="width:.8em;border:0" viewBox="0 0 10 10"><rect class="client" width="10" height="10"/></svg>frames of the client
        <svg class="key" style="width:.8em;border:0" viewBox="0 0 10 10"><rect class="server" width="10" height="10"/></svg>frames of the server
        <svg class="key" style="width:.8em;border:0" viewBox="0 0 10 10"><rect class="gap" width="10" height="10"/></svg>no heartbeat for too long
        <svg class="key" style="width:.8em;border:0" viewBox="0 0 10 10"><rect class="damage" width="10" height="10"/></svg>missing or unframed bytes</p>

        """

    // MARK: Parts

    private static func findings(_ report: Report) -> String {
        guard !report.findings.isEmpty else { return "<h2>Findings</h2>\n<p id=\"findings\">Nothing was found.</p>\n" }
        var text =
            "<h2>Findings</h2>\n<table id=\"findings\"><thead><tr><th class=\"name\">time</th><th>connection</th>"
        text +=
            "<th class=\"name\">side</th><th class=\"name\">kind</th><th class=\"name\">what</th><th>packet</th></tr></thead><tbody>\n"
        for finding in report.findings.prefix(1_000) {
            text +=
                "<tr class=\"\(finding.severity.rawValue)\"><td class=\"name\">\(ReportWords.clock(finding.time))</td>"
            text += "<td><a href=\"#c\(finding.connection)\">\(finding.connection)</a></td>"
            text += "<td class=\"name\">\(finding.from.sender)</td><td class=\"name\">\(finding.kind.rawValue)</td>"
            text += "<td class=\"name\">\(escape(finding.message))</td>"
            text += "<td>\(finding.packet.map(String.init) ?? "")</td></tr>\n"
        }
        text += "</tbody></table>\n"
        let more = max(0, report.findings.count - 1_000) + report.moreFindings
        return more > 0 ? text + "<p>\(Quantities.counted(more, "more finding")).</p>\n" : text
    }

    private static func section(_ connection: ConnectionReport) -> String {
        let number = connection.opening.number
        var text = "<h3 id=\"c\(number)\">#\(number) \(escape(ReportWords.ends(connection)))"
        text +=
            " <span class=\"faint\">\(escape(connection.format ?? "not recognised")), \(ReportWords.life(connection))</span></h3>\n"
        text += picture(connection)
        text += "<ul>"
        for direction in Direction.allCases {
            text += "<li>\(direction.sender): \(escape(ReportWords.amount(connection, direction)))"
            if let cuts = ReportWords.cuts(connection, direction) { text += "; \(escape(cuts))" }
            text += "</li>"
        }
        if let tcp = ReportWords.tcp(connection) { text += "<li>TCP: \(escape(tcp))</li>" }
        for gap in connection.gaps.prefix(50) where !gap.reason.isEmpty {
            text += "<li class=\"warning\">gap of the \(gap.from.sender) from \(ReportWords.clock(gap.start)): "
            text += "<b>\(escape(gap.blame))</b>, \(escape(gap.reason))</li>"
        }
        text += "</ul>\n"
        if !connection.roundTrips.isEmpty {
            text += table(
                Array(ReportWords.roundTripHeads.dropFirst()),
                connection.roundTrips.map { Array(ReportWords.cells($0).dropFirst()) }, id: "r\(number)", names: 1)
        }
        return text
    }

    /// The two rows of a connection's time line.
    private static func picture(_ connection: ConnectionReport) -> String {
        let (left, width, columns) = (60.0, 1_000.0, 200)
        let step = width / Double(columns)
        var shapes = ""
        for (row, direction) in Direction.allCases.enumerated() {
            let base = 48.0 + Double(row) * 56
            shapes += "<text class=\"label\" x=\"4\" y=\"\(px(base - 8))\">\(direction.sender)</text>"
            for gap in connection.gaps where gap.from == direction {
                let start = place(gap.start, connection), end = place(gap.end ?? connection.end, connection)
                shapes += "<rect class=\"gap\" x=\"\(px(left + start * width))\" y=\"\(px(base - 40))\" "
                shapes += "width=\"\(px(max(2, (end - start) * width)))\" height=\"44\"><title>"
                shapes += "\(escape(gap.reason.isEmpty ? "no heartbeat" : gap.reason))</title></rect>"
            }
            let cells = connection.timeLine.columns(direction, count: columns, until: connection.end)
            let most = Double(max(1, cells.map { $0.frames }.max() ?? 1))
            for (index, cell) in cells.enumerated() {
                let x = left + Double(index) * step
                if cell.frames > 0 {
                    let height = 4 + 26 * Double(cell.frames) / most
                    shapes += bar(direction.sender, x, base - height, step - 1, height, "\(cell.frames) frames")
                }
                if cell.heartbeats > 0 {
                    shapes += bar("beat", x, base - 40, step - 1, 7, "\(cell.heartbeats) heartbeats")
                }
                if cell.isDamaged { shapes += bar("damage", x, base, step, 4, "missing or unframed bytes") }
            }
        }
        shapes +=
            "<text class=\"label\" x=\"\(px(left))\" y=\"124\">\(ReportWords.clock(connection.opening.time))</text>"
        shapes +=
            "<text class=\"label\" x=\"\(px(left + width))\" y=\"124\" text-anchor=\"end\">\(ReportWords.clock(connection.end))</text>"
        return
            "<svg viewBox=\"0 0 1070 130\" role=\"img\" aria-label=\"time line of connection \(connection.opening.number)\">\(shapes)</svg>\n"
    }

    private static func bar(
        _ kind: String, _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ title: String
    ) -> String {
        "<rect class=\"\(kind)\" x=\"\(px(x))\" y=\"\(px(y))\" width=\"\(px(width))\" height=\"\(px(height))\"><title>\(title)</title></rect>"
    }

    private static func place(_ time: Timestamp, _ connection: ConnectionReport) -> Double {
        let total = Double(max(1, (connection.end - connection.opening.time).nanoseconds))
        return min(1, max(0, Double((time - connection.opening.time).nanoseconds) / total))
    }

    private static func px(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    private static func table(_ heads: [String], _ rows: [[String]], id: String, names: Int) -> String {
        func cells(_ row: [String], _ tag: String) -> String {
            row.enumerated().map { "<\(tag)\($0 < names ? " class=\"name\"" : "")>\(escape($1))</\(tag)>" }.joined()
        }
        return "<table id=\"\(id)\"><thead><tr>\(cells(heads, "th"))</tr></thead><tbody>\n"
            + rows.map { "<tr>\(cells($0, "td"))</tr>\n" }.joined() + "</tbody></table>\n"
    }

    /// Text from the network, made safe for HTML: nothing in it is markup, and nothing hides or reorders the line.
    static func escape(_ text: String) -> String {
        MarkupText.escaped(PrintableText.of(text, columns: 400))
    }
}
