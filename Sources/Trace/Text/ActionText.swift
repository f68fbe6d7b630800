import Streams

/// What a rule did, as the text view shows it.
package enum ActionText {
    /// `drop: txt #3 (95 B), by drop-1`
    package static func of(_ report: ActionReport) -> String {
        let what =
            report.index.map { "\(report.type ?? "frame") #\($0)" + (report.length > 0 ? " (\(report.length) B)" : "") }
            ?? (report.rule == ActionReport.limits ? "\(report.length) B" : "from byte \(report.offset) on")
        var text = "\(report.action): \(what)"
        if !report.detail.isEmpty { text += ", \(report.detail)" }
        if !report.before.isEmpty, report.passed != report.length {
            text += ", \(report.passed) B instead"
        }
        return text + (report.rule.hasPrefix(report.action + "-") ? "" : ", by \(report.rule)")
    }
}
