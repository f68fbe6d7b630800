import Trace

/// A report as annotations of GitHub Actions: one for each place where a segmentation breaks the program.
package enum TortureGitHub {
    /// The commands, and the report's last line.
    ///
    /// - Parameter name: what was tortured.
    package static func of(_ report: TortureReport, name: String) -> String {
        var text = ""
        for (number, least) in report.least.enumerated() {
            let message = "\(name) breaks where \(least.text): \(least.symptom)"
            text +=
                number < WorkflowCommand.most
                ? WorkflowCommand(.error, title: "frametap torture", message).text : PrintableText.of(message) + "\n"
        }
        return text + (TortureText.of(report).split(separator: "\n").last.map { $0 + "\n" } ?? "")
    }

    /// The step's summary, as Markdown.
    package static func summary(of report: TortureReport, name: String) -> String {
        let lines = TortureText.of(report).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return StepSummary.text(
            title: "frametap torture: \(PrintableText.of(name))", lines.last { !$0.isEmpty } ?? "", listing: lines,
            language: "text")
    }
}
