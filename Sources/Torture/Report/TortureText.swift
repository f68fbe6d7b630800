import Trace

/// A report for people.
package enum TortureText {
    package static func of(_ report: TortureReport) -> String {
        var lines = [
            "\(count(report.frames, "frame")) of \(count(report.connections, "connection")), \(count(report.bytes, "byte")); "
                + "seed \(report.seed); answers are awaited for \(report.patience.rounded)"
        ]
        let width = report.sections.map(\.name.count).max() ?? 0
        for section in report.sections {
            var line = "  \(section.name): " + String(repeating: " ", count: width - section.name.count)
            line += "\(number(section.tried)) tried"
            if section.tried > 0 {
                line += section.proven == section.tried ? ", all proven" : ", \(number(section.proven)) proven"
                line +=
                    section.failed == 0
                    ? ", none fails" : ", \(number(section.failed)) \(section.failed == 1 ? "fails" : "fail")"
            }
            if section.uncounted > 0 { line += "; \(number(section.uncounted)) not counted" }
            if let leftOut = leftOut(of: section) { line += "; \(leftOut)" }
            lines.append(line)
        }
        for broken in report.least {
            let others = broken.count > 1 ? " (\(number(broken.count)) such \(plural(broken.segmentation)))" : ""
            lines.append("breaks where \(broken.text): \(broken.symptom)\(others)")
        }
        lines += report.notes.map { "note: \($0)" }
        lines.append(summary(of: report))
        return lines.map { PrintableText.of($0) }.joined(separator: "\n") + "\n"
    }

    /// `14 of 1,000 segmentations fail, all inside a head`
    package static func summary(of report: TortureReport) -> String {
        let all = "\(number(report.cuts)) segmentations"
        if report.isClean { return "none of \(all) breaks it" }
        var line = "\(number(report.failed)) of \(all) \(report.failed == 1 ? "fails" : "fail")"
        let (fields, areas) = (Set(report.least.map(\.field)), Set(report.least.map(\.area)))
        if areas.count == 1, let area = areas.first ?? nil, !report.least.contains(where: { $0.offset == 0 }) {
            let field = fields.count == 1 && fields.first != area ? fields.first : nil
            line += ", all inside \(field.map { "`\($0)`" } ?? "a \(area)")"
        }
        return line
    }

    /// `12 places left out, they fail alone`; nil if none were.
    static func leftOut(of section: TortureReport.Section) -> String? {
        if section.leftOut == 0 { return nil }
        return "\(count(section.leftOut, "place")) left out, \(section.leftOut == 1 ? "it fails" : "they fail") alone"
    }

    private static func plural(_ segmentation: String) -> String {
        segmentation == "two-part cut" ? "cuts" : "runs of \(segmentation)"
    }

    private static func count(_ count: Int, _ name: String) -> String {
        "\(number(count)) \(name)\(count == 1 ? "" : "s")"
    }

    /// `1,000`
    private static func number(_ number: Int) -> String {
        var digits = String(number)
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
            place -= 3
        }
        return digits
    }
}
