/// Faults as annotations of GitHub Actions, and the same as a list.
enum CheckGitHub {
    /// - Parameter isFile: whether that is the name of a file, at which annotations are shown.
    static func of(_ report: CheckReport, name: String, isFile: Bool) -> String {
        var text = ""
        var shown: [WorkflowCommand.Level: Int] = [:]
        for connection in report.connections where connection.faultCount > 0 {
            for fault in connection.faults {
                let level = fault.isError ? WorkflowCommand.Level.error : .warning
                let line = "\(connection.title): \(fault.text)"
                shown[level, default: 0] += 1
                // What is not shown as an annotation is in the log.
                if shown[level, default: 0] <= WorkflowCommand.most {
                    let place = isFile ? (file: name, line: Int?.none) : nil
                    text += WorkflowCommand(level, title: "frametap: \(fault.kind)", at: place, line).text
                } else {
                    text += PrintableText.of("\(fault.kind): \(line)") + "\n"
                }
            }
            let more = connection.faultCount - connection.faults.count
            if more > 0 { text += "\(PrintableText.of(connection.title)): and \(more) more\n" }
        }
        let failed = report.connections.count { $0.faultCount > 0 }
        let all = Quantities.counted(report.connections.count, "connection")
        return text + "\(PrintableText.of(name)): \(all), \(failed) with faults\n"
    }

    /// The summary of a step, as Markdown.
    static func summary(of report: CheckReport, name: String) -> String {
        var lines: [String] = []
        for connection in report.connections where connection.faultCount > 0 {
            lines.append(PrintableText.of(connection.title))
            lines += connection.faults.map { "  \($0.kind): \(PrintableText.of($0.text))" }
        }
        let failed = report.connections.count { $0.faultCount > 0 }
        let title = "\(Quantities.counted(report.connections.count, "connection")), \(failed) with faults"
        return StepSummary.text(title: "frametap: \(PrintableText.of(name))", title, listing: lines, language: "text")
    }
}
