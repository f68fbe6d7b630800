import Yams

/// The YAML of format files, with its limits.
package enum FormatYAML {
    /// The most nodes a file may have once its aliases are expanded.
    private static let mostNodes = 50_000

    /// The outermost node; nil, with faults, if the text is not YAML, or too large.
    package static func compose(_ yaml: String, context: LoadContext) -> Node? {
        guard yaml.utf8.count <= FormatLoader.largestFile else {
            context.add("the file has \(yaml.utf8.count) bytes, the limit is \(FormatLoader.largestFile)", at: nil)
            return nil
        }
        // An alias repeats what it names: a few lines of them can expand to more than fits in memory. Formats need none.
        if let (line, column) = alias(in: yaml) {
            context.add("aliases (*name) are not allowed in format files", line: line, column: column)
            return nil
        }
        // Editors on Windows begin a file with a byte order mark, which would count as a column.
        let yaml = yaml.unicodeScalars.first == "\u{feff}" ? String(yaml.unicodeScalars.dropFirst()) : yaml
        do {
            // The meaning of scalars follows from their keys; resolving it from their text is slow. The encoding is explicit,
            // since the default is looked up in the environment.
            if let node = try Yams.compose(yaml: yaml, .basic, .default, .utf8) { return node }
            context.add("the file is empty; expected a format, such as `frametap formats show im-json` prints", at: nil)
        } catch let error as YamlError {
            let (place, message) = describe(error)
            context.add(message, mark: place)
        } catch {
            context.add("\(error)", at: nil)
        }
        return nil
    }

    private static func describe(_ error: YamlError) -> (Mark?, String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return (mark, "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let keys, let context):
            return (context.mark, "key \(keys.joined(separator: ", ")) appears twice")
        // Its own text has the file's, which may be anything.
        case .reader(let problem, let offset, _, _):
            return (nil, "not YAML: \(problem)" + (offset.map { " (at byte \($0))" } ?? ""))
        default: return (nil, "not YAML: \(error)")
        }
    }

    /// Where the first alias outside quotes and comments is, roughly: a `*` at the start of a value.
    private static func alias(in yaml: String) -> (line: Int, column: Int)? {
        let star = UInt8(ascii: "*")
        for (index, line) in yaml.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        where line.utf8.contains(star) {
            var quote: Character?
            var previous: Character = " "
            for (column, character) in line.enumerated() {
                if let open = quote {
                    if character == open { quote = nil }
                } else if character == "\"" || character == "'" {
                    quote = character
                } else if character == "#", previous == " " {
                    break
                } else if character == "*", " ,[{-:".contains(previous), column + 1 < line.count {
                    let next = line[line.index(line.startIndex, offsetBy: column + 1)]
                    if next.isLetter || next.isNumber || next == "_" { return (index + 1, column + 1) }
                }
                previous = character
            }
        }
        return nil
    }
}
