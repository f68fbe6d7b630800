/// Tables of the reference, in Markdown.
enum KeyTables {
    /// The keys of a section.
    static func markdown(_ section: KeySection) -> String {
        rows(["key", "value", "meaning"], section.keys.map { ["`\($0.name)`", $0.value.phrase, $0.fullMeaning] })
    }

    /// What a shared value may be: words with their meanings, or names of sections; nil if there is nothing to list.
    static func markdown(_ value: SharedValue) -> String? {
        switch value.value() {
        case .terms(let terms):
            rows(
                ["\(value.name)", "meaning"], terms.map { ["`" + $0.words.joined(separator: "` `") + "`", $0.meaning] })
        case .selected(let key, let options): rows([key, "meaning"], options().map { ["`\($0.name)`", $0.summary] })
        case .optioned(let options):
            rows([value.name, "meaning", "keys"], options().map { ["`\($0.name)`", $0.summary, keys($0)] })
        default: nil
        }
    }

    private static func keys(_ option: KeyOption) -> String {
        option.section.keys.map { "`\($0.name)`: \($0.value.phrase); \($0.fullMeaning)" }.joined(separator: "<br>")
    }

    private static func rows(_ header: [String], _ rows: [[String]]) -> String {
        let lines = [header, header.map { _ in "---" }] + rows
        return lines.map { cells in
            cells.map { $0.isEmpty ? "| " : "| \($0) " }.joined() + "|\n"
        }.joined()
    }
}

/// The same for a terminal.
enum KeyListing {
    /// The keys of a section, with what they mean in lines of their own.
    static func text(_ section: KeySection, width: Int = 100) -> String {
        let sentence = section.summary.withoutMarkdown
        var lines = wrapped("\(section.name): \(sentence)", indent: 0, width: width) + [""]
        let column = (section.keys.map(\.name.count).max() ?? 0) + 4
        for key in section.keys {
            let text = key.value.phrase.withoutMarkdown + ": " + key.fullMeaning.withoutMarkdown
            var rest = wrapped(text, indent: column, width: width)
            let name = "  " + key.name + String(repeating: " ", count: column - key.name.count - 2)
            rest[0] = name + rest[0].dropFirst(column)
            lines += rest
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Every section with its summary.
    static func text(_ sections: [KeySection], width: Int = 100) -> String {
        let column = (sections.map(\.name.count).max() ?? 0) + 2
        return sections.map { section in
            var lines = wrapped(section.summary.withoutMarkdown, indent: column, width: width)
            let space = String(repeating: " ", count: column - section.name.count)
            lines[0] = section.name + space + lines[0].dropFirst(column)
            return lines.joined(separator: "\n") + "\n"
        }.joined()
    }

    private static func wrapped(_ text: String, indent: Int, width: Int) -> [String] {
        let space = String(repeating: " ", count: indent)
        var lines = [space]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.count > indent, last.count + word.count + 1 > width {
                lines.append(space + word)
            } else {
                lines[lines.count - 1] += last.count > indent ? " " + word : word
            }
        }
        return lines
    }
}
