extension KeyValue {
    /// What the value may be, in a few words of Markdown.
    var phrase: String {
        switch self {
        case .text(let said): said ?? "text"
        case .matching(_, let said): said
        case .scalar: "text"
        case .words(let words): Self.choice(words.map { "`\($0)`" })
        case .terms(let terms): Self.choice(terms.flatMap(\.words).map { "`\($0)`" })
        case .integer(let range): Self.phrase(of: range)
        case .number(let least): "a number from \(least)"
        case .boolean: "`true` or `false`"
        case .byteCount: "a size, such as `64 KiB`"
        case .interval: "a time, such as `200 ms`"
        case .bytes: "bytes"
        case .condition: "a [condition](#conditions)"
        case .expression: "an [expression](#expressions-in-structures)"
        case .list(.nested(let section), _, _): "a list of " + KeyValue.nested(section).phrase
        case .list(let value, _, _): "a list: \(value.phrase)"
        case .mapping(let value, let names, _):
            (names == KeyValue.numberPattern ? "numbers" : "names") + ", each with \(value.phrase)"
        case .entry(let value, _): "`name:` \(value.phrase)"
        case .any(let values): Self.phrase(ofAny: values)
        case .nested(let section):
            "`{ " + section().keys.prefix(4).map(\.name).joined(separator: ", ")
                + (section().keys.count > 4 ? ", …" : "") + " }`"
        case .shared(let value): value.phrase
        case .selected(_, let options), .optioned(let options): Self.choice(options().map { "`\($0.name)`" })
        }
    }

    private static func choice(_ words: [String]) -> String {
        guard let last = words.last, words.count > 1 else { return words.first ?? "nothing" }
        return words.dropLast().joined(separator: ", ") + " or " + last
    }

    private static func phrase(of range: ClosedRange<Int>) -> String {
        if range.lowerBound == .min { return "a whole number" }
        if range.upperBound == .max { return "a whole number from \(range.lowerBound)" }
        return "\(range.lowerBound) to \(range.upperBound)"
    }

    private static func phrase(ofAny values: [KeyValue]) -> String {
        var phrases: [String] = []
        for value in values {
            if case .list(let item, _, _) = value, phrases.last == item.phrase {
                phrases.append("a list")
            } else {
                phrases.append(value.phrase)
            }
        }
        return phrases.joined(separator: ", or ")
    }
}

extension FormatKey {
    /// The meaning with what else is to be said of the key, in Markdown.
    var fullMeaning: String {
        if isRequired { return meaning + "; required" }
        return standard.map { meaning + "; `\($0)` by default" } ?? meaning
    }
}

extension String {
    /// Markdown as plain text: without backticks, and links without their targets.
    var withoutMarkdown: String {
        var result = ""
        var rest = self[...]
        while let character = rest.first {
            rest = rest.dropFirst()
            switch character {
            case "`": break
            case "[":
                guard let close = rest.firstIndex(of: "]"), rest[close...].hasPrefix("]("),
                    let end = rest[close...].firstIndex(of: ")")
                else {
                    result.append(character)
                    continue
                }
                result += String(rest[..<close]).withoutMarkdown
                rest = rest[rest.index(after: end)...]
            default: result.append(character)
            }
        }
        return result
    }

    /// A sentence with its capital letter and full stop.
    var asSentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
