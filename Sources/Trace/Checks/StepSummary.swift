/// What a step of GitHub Actions shows as its summary, in Markdown. GitHub refuses more than 1 MiB for a step.
package enum StepSummary {
    /// At most how many bytes of lines are shown.
    static let limit = 64 << 10

    /// A heading, a line of text, and lines as they are.
    ///
    /// - Parameters:
    ///   - title: the heading.
    ///   - text: what was found, in a line.
    ///   - lines: the details; those beyond the limit are counted.
    ///   - language: how the lines are coloured: `text`, `diff`.
    package static func text(title: String, _ text: String, listing lines: [String], language: String) -> String {
        var markdown = "### \(escaped(title))\n\n\(escaped(text))\n\n"
        guard !lines.isEmpty else { return markdown }
        // A fence that no line can close.
        let longest = lines.map { $0.prefix { $0 == " " || $0 == "`" }.count { $0 == "`" } }.max() ?? 0
        let fence = String(repeating: "`", count: max(3, longest + 1))
        markdown += "\(fence)\(language)\n"
        var size = 0
        var shown = 0
        for line in lines {
            size += line.utf8.count + 1
            if size > limit { break }
            markdown += line + "\n"
            shown += 1
        }
        markdown += "\(fence)\n"
        if shown < lines.count { markdown += "\n… and \(lines.count - shown) more lines\n" }
        return markdown
    }

    /// Text in which Markdown and HTML mean nothing.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { escaped, character in
            if "\\`*_{}[]()#+-.!|<>&~".contains(character) { escaped += "\\" }
            escaped.append(character)
        }
    }
}
