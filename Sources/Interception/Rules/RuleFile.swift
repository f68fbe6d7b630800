import Framing
import YAML

/// Reads rules: a file of them, or one in a line.
///
///     seed: 7
///     rules:
///       - drop: type == "txt" and nth % 10 == 0
///         from: client
///       - delay: 200 ms
///         jitter: 50 ms
///         when: type == "img"
package enum RuleFile {
    /// The rules of a file.
    ///
    /// - Parameters:
    ///   - yaml: the file's text.
    ///   - file: its name, for error messages.
    ///   - format: the format of the frames, if it is known: conditions and frames are checked against it.
    ///   - isProvisional: whether the rules are read again once the format is known.
    package static func load(
        _ yaml: String, file: String, format: Format?, isProvisional: Bool = false
    ) throws(FormatFileError) -> (rules: [Rule], seed: UInt64?) {
        try read(yaml, file: file) { node, context in
            guard node.sequence == nil else { return (maps(node, "rules", context), nil) }
            guard let top = YAMLMap(node, path: "the file", context: context) else { return ([], nil) }
            top.allow(["seed", "rules"])
            if top["rules"] == nil { top.fault("the file has no rules") }
            let seed = top.text("seed").flatMap { text in
                if let seed = UInt64(text) { return seed }
                top.fault("seed is \(text); expected a whole number", at: "seed")
                return nil
            }
            return (top.maps("rules") ?? [], seed)
        } rules: {
            RuleLoader(format: format, number: $1 + 1, isProvisional: isProvisional).rule($0)
        }
    }

    /// One rule, as on the command line: `drop: type == "txt"`, with `;` between its keys.
    ///
    /// - Parameters:
    ///   - number: counts the rules without a name, for their names.
    ///   - format: the format of the frames, if it is known.
    ///   - isProvisional: whether the rule is read again once the format is known.
    ///   - option: what it was given with, for error messages.
    package static func rule(
        _ text: String, number: Int, format: Format?, isProvisional: Bool = false, option: String = "--rule"
    ) throws(FormatFileError) -> Rule {
        let (lines, starts) = lines(text)
        do throws(FormatFileError) {
            let (rules, _) = try read(lines, file: option) {
                node, context in
                (YAMLMap(node, path: "the rule", context: context).map { [$0] } ?? [], nil)
            } rules: { map, _ in
                RuleLoader(format: format, number: number, isProvisional: isProvisional).rule(map)
            }
            return rules[0]
        } catch {
            // Where it is in what was written, which is one line.
            var error = error
            for index in error.faults.indices where starts.indices.contains(error.faults[index].line - 1) {
                error.faults[index].column += starts[error.faults[index].line - 1]
                error.faults[index].line = 1
            }
            throw error
        }
    }

    private static func read(
        _ yaml: String, file: String, maps: (Node, LoadContext) -> ([YAMLMap], UInt64?),
        rules read: (YAMLMap, Int) -> Rule?
    ) throws(FormatFileError) -> (rules: [Rule], seed: UInt64?) {
        let context = LoadContext()
        if yaml.allSatisfy({ $0 == " " || $0 == "\n" }) {
            context.add("there is nothing; expected a rule, such as drop: type == \"txt\"", at: nil)
            throw FormatFileError(file: file, faults: context.faults)
        }
        var (rules, seed): ([Rule], UInt64?) = ([], nil)
        if let node = FormatYAML.compose(yaml, context: context) {
            let (found, given) = maps(node, context)
            rules = found.enumerated().compactMap { read($1, $0) }
            seed = given
        }
        guard context.faults.isEmpty else {
            throw FormatFileError(
                file: file, faults: context.faults.sorted { ($0.line, $0.column) < ($1.line, $1.column) })
        }
        return (rules, seed)
    }

    private static func maps(_ node: Node, _ path: String, _ context: LoadContext) -> [YAMLMap] {
        (node.sequence ?? []).enumerated().compactMap {
            YAMLMap($1, path: "\(path)[\($0)]", context: context)
        }
    }

    /// A line for each key, and how many characters of the text precede each: `;` separates them, except in quotes and brackets.
    private static func lines(_ text: String) -> (text: String, starts: [Int]) {
        var (lines, quote, depth) = ("", Character?.none, 0)
        var starts = [text.prefix { $0 == " " }.count]
        func start(after place: Int) -> Int { place + 1 + text.dropFirst(place + 1).prefix { $0 == " " }.count }
        for (place, character) in text.enumerated() {
            if let open = quote {
                if character == open { quote = nil }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if "[{(".contains(character) {
                depth += 1
            } else if "]})".contains(character) {
                depth -= 1
            } else if character == ";", depth == 0 {
                lines += "\n"
                starts.append(start(after: place))
                continue
            }
            if character == "\n" { starts.append(start(after: place)) }
            // Keys of one mapping begin in one column.
            if character == " ", lines.isEmpty || lines.hasSuffix("\n") { continue }
            lines.append(character)
        }
        return (lines, starts)
    }
}
