import Trace

/// A report as JUnit XML: a test case for each kind of segmentation.
package enum TortureJUnit {
    /// The document.
    ///
    /// - Parameter name: what was tortured.
    package static func of(_ report: TortureReport, name: String) -> String {
        let suite = MarkupText.escaped(PrintableText.of(name))
        var cases = ""
        var (failures, skipped) = (0, 0)
        for section in report.sections {
            let head = "    <testcase classname=\"\(suite)\" name=\"\(MarkupText.escaped(section.name))\""
            let least = report.least.filter { section.holds($0) }
            if section.failed == 0, least.isEmpty {
                let leftOut = TortureText.leftOut(of: section)
                if section.tried == 0 {
                    skipped += 1
                    let why = leftOut ?? "\(section.uncounted) not counted"
                    cases += "\(head)>\n      <skipped message=\"\(why)\"/>\n    </testcase>\n"
                } else if let leftOut {
                    cases += "\(head)>\n      <system-out>\(leftOut)</system-out>\n    </testcase>\n"
                } else {
                    cases += "\(head)/>\n"
                }
                continue
            }
            failures += 1
            let lines = least.map { PrintableText.of("breaks where \($0.text): \($0.symptom)") }
            cases += """
                \(head)>
                      <failure type="breaks" message="\(MarkupText.escaped(lines.first ?? ""))">\(MarkupText.escaped(lines.joined(separator: "\n")))</failure>
                    </testcase>

                """
        }
        let count = report.sections.count
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites tests="\(count)" failures="\(failures)">
              <testsuite name="\(suite)" tests="\(count)" failures="\(failures)" errors="0" skipped="\(skipped)">
            \(cases)  </testsuite>
            </testsuites>

            """
    }
}

extension TortureReport.Section {
    /// Whether something that breaks is of this kind.
    func holds(_ broken: TortureReport.Break) -> Bool {
        name == broken.segmentation || name == broken.segmentation + "s"
    }
}
