/// The language of format files: what its sections say of themselves, as a schema and as the tables of its reference.
package enum FormatLanguage {
    /// Every section, the outermost first.
    package static var sections: [KeySection] {
        KeyWalk(FormatLoader.section).parts.compactMap { if case .section(let section) = $0 { section } else { nil } }
    }

    /// The names of sections and of values that several keys have, which the schema's definitions have, too.
    package static var names: [String] { KeyWalk(FormatLoader.section).names }

    /// The JSON Schema of format files.
    package static var schema: String { KeySchema(FormatLoader.section).text }

    /// Every section that has keys, with what it is for.
    package static var listing: String { KeyListing.text(sections.filter { !$0.keys.isEmpty }) }

    /// The keys of a section, for a terminal.
    ///
    /// - Parameter name: the section's name, such as `framing.delimiter`, or its last part if no other section has that.
    package static func listing(of name: String) throws(FormatLanguageError) -> String {
        let all = sections.filter { !$0.keys.isEmpty }
        let found = all.filter { $0.name == name }
        let matching = found.isEmpty ? all.filter { $0.name.hasSuffix(".\(name)") } : found
        if matching.isEmpty {
            let hint = LoadContext.hint(name, all.map(\.name))
            throw FormatLanguageError(description: "there is no section \(name); \(hint)")
        }
        return matching.map { KeyListing.text($0) }.joined(separator: "\n")
    }

    /// The reference with its tables as they should be: each stands between `<!-- keys: NAME -->` and `<!-- end -->`. Between
    /// `<!-- names: NAME -->` and `<!-- end -->` are only the names of a section's keys.
    package static func updated(reference: String) throws(FormatLanguageError) -> String {
        let parts = KeyWalk(FormatLoader.section).parts
        var result: [Substring] = []
        var isInside = false
        for line in reference.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == end { isInside = false }
            if !isInside { result.append(line) }
            guard let (isTable, name) = request(line) else { continue }
            let part = parts.first { $0.name == name }
            guard let text = part.flatMap({ isTable ? table($0) : names($0) }) else {
                throw FormatLanguageError(description: "the reference asks for the keys of \(name): there is none")
            }
            result.append("")
            result += text.split(separator: "\n")
            result.append("")
            isInside = true
        }
        if isInside { throw FormatLanguageError(description: "a table of the reference has no \(end)") }
        return result.joined(separator: "\n")
    }

    private static let end = "<!-- end -->"

    /// What a line of the reference asks for.
    private static func request(_ line: Substring) -> (isTable: Bool, name: Substring)? {
        for (start, isTable) in [("<!-- keys: ", true), ("<!-- names: ", false)] {
            if line.hasPrefix(start), line.hasSuffix(" -->") {
                return (isTable, line.dropFirst(start.count).dropLast(4))
            }
        }
        return nil
    }

    private static func names(_ part: KeyWalk.Part) -> String? {
        guard case .section(let section) = part else { return nil }
        return section.keys.map { "`\($0.name)`" }.joined(separator: ", ") + "."
    }

    private static func table(_ part: KeyWalk.Part) -> String? {
        switch part {
        case .section(let section): KeyTables.markdown(section)
        case .shared(let value): KeyTables.markdown(value)
        }
    }
}

/// Why a part of the language cannot be shown.
package struct FormatLanguageError: Error, CustomStringConvertible {
    /// What was asked for, and what is known.
    package let description: String
}
