/// Faults as JUnit XML: a test case for each connection, for tools that show test results.
enum CheckJUnit {
    static func of(_ report: CheckReport, name: String) -> String {
        let suite = MarkupText.escaped(PrintableText.of(name))
        var cases = ""
        for connection in report.connections {
            let title = MarkupText.escaped(PrintableText.of(connection.title))
            let head = "    <testcase classname=\"\(suite)\" name=\"\(title)\" time=\"\(connection.seconds)\""
            guard let first = connection.faults.first else {
                cases += "\(head)/>\n"
                continue
            }
            var lines = connection.faults.map { "\($0.time.rfc3339) \($0.kind): \(PrintableText.of($0.text))" }
            let more = connection.faultCount - connection.faults.count
            if more > 0 { lines.append("and \(more) more") }
            let message = MarkupText.escaped("\(first.kind): \(PrintableText.of(first.text, columns: 400))")
            cases += """
                \(head)>
                      <failure type="\(first.kind)" message="\(message)">\(MarkupText.escaped(lines.joined(separator: "\n")))</failure>
                    </testcase>

                """
        }
        let count = report.connections.count
        let failures = report.connections.count { $0.faultCount > 0 }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="\(count)" failures="\(failures)">
              <testsuite name="\(suite)" tests="\(count)" failures="\(failures)" errors="0" skipped="0">
            \(cases)  </testsuite>
            </testsuites>

            """
    }
}
