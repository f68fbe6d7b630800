import Framing
import Streams

/// `GET complete`: words that may follow in a condition.
enum CompleteQuery {
    /// How much of a condition is looked at: what is in front of it does not matter.
    private static let most = 1_024

    static func answer(_ query: QueryParameters, _ page: Page) -> [UInt8] {
        let (seen, names) = page.store.read { ($0.seen.formats, $0.names) }
        var (types, fields): (Set<String>, Set<String>) = ([], [])
        for format in seen.values {
            fields.formUnion(format.fields)
            types.formUnion(format.types.fromClient.union(format.types.fromServer).map { names[Int($0)] })
        }
        let completion = Completion(types: types.sorted(), fields: fields.sorted())
        return JSONText.object { json in
            json.key("words")
            json.array { json in
                for word in completion.words(after: String((query["prefix"] ?? "").suffix(most))) { json.text(word) }
            }
        }
    }
}

/// Words that may go on in a condition. `language/complete.js` finds the same.
struct Completion {
    /// The types and fields that there are, sorted.
    var types: [String]
    var fields: [String]

    private static let most = 50
    private static let values = [
        "type", "from", "length", "index", "offset", "segments", "merged", "missing", "heartbeat", "source", "target",
    ]
    private static let others = [
        "body.length", "body.text", "body.json.", "body.protobuf.", "body.fields.", "client", "server", "and", "or",
        "not", "in", "exists", "matches", "contains", "startsWith", "endsWith",
    ]

    /// The words, from the beginning of the last word of a condition that has begun.
    func words(after prefix: String) -> [String] {
        if let begun = prefix.firstMatch(of: Self.typeText)?.1 { return types.beginning(with: begun).map(Self.literal) }
        if prefix.firstMatch(of: Self.typeWithoutText) != nil { return types.prefix(Self.most).map(Self.literal) }
        let word = Self.lastWord(of: prefix)
        if prefix.firstMatch(of: Self.side) != nil { return ["client", "server"].filter { $0.hasPrefix(word) } }
        if let begun = prefix.firstMatch(of: Self.fieldText)?.1 {
            return fields.beginning(with: begun).map { Self.literal($0) + "]" }
        }
        guard !word.isEmpty else { return [] }
        // Whoever writes `fields.x` may mean `fields["x-y"]`.
        let named = fields.map {
            (word: Self.isName($0) ? "fields.\($0)" : "fields[\(Self.literal($0))]", spelled: "fields.\($0)")
        }
        let all = Self.values.map { ($0, $0) } + named.map { ($0.word, $0.spelled) } + Self.others.map { ($0, $0) }
        let found = all.filter { ($0.0.hasPrefix(word) || $0.1.hasPrefix(word)) && $0.0 != word }
        return found.prefix(Self.most).map { $0.0 }
    }

    // MARK: What was begun

    private static var typeText: Regex<(Substring, Substring)> {
        #/(?:^|\W)type\s*(?:==|!=|=|eq|ne|in\s*\{[^}]*|contains|startsWith)\s*["']([^"']*)\z/#
    }
    private static var typeWithoutText: Regex<Substring> { #/(?:^|\W)type\s*(?:==|!=|=)\s*\z/# }
    private static var side: Regex<Substring> { #/(?:^|\W)from\s*(?:==|!=|=)\s*\w*\z/# }
    private static var fieldText: Regex<(Substring, Substring)> { #/(?:^|\W)fields\s*\[\s*["']([^"']*)\z/# }

    /// The word that a completion replaces: a text that has not ended, or a name.
    static func lastWord(of prefix: String) -> String {
        var quote: Unicode.Scalar?
        var (isEscaped, text, name) = (false, String.UnicodeScalarView(), String.UnicodeScalarView())
        for scalar in prefix.unicodeScalars {
            if let open = quote {
                text.append(scalar)
                if isEscaped {
                    isEscaped = false
                } else if scalar == "\\" {
                    isEscaped = true
                } else if scalar == open {
                    quote = nil
                }
                continue
            }
            if scalar == "\"" || scalar == "'" {
                (quote, text, name) = (scalar, String.UnicodeScalarView([scalar]), String.UnicodeScalarView())
            } else if scalar.properties.isIDContinue || "_.[]".unicodeScalars.contains(scalar) {
                name.append(scalar)
            } else {
                name = String.UnicodeScalarView()
            }
        }
        return String(quote == nil ? name : text)
    }

    private static func isName(_ field: String) -> Bool {
        guard let first = field.unicodeScalars.first, first == "_" || first.properties.isIDStart else { return false }
        return field.unicodeScalars.dropFirst().allSatisfy { $0.properties.isIDContinue }
    }

    /// A text as conditions have it.
    static func literal(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = [
            "\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0",
        ]
        return "\"" + text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + "\""
    }
}

extension [String] {
    /// The first of those that begin with a text.
    fileprivate func beginning(with text: some StringProtocol) -> ArraySlice<String> {
        filter { $0.hasPrefix(text) }.prefix(50)
    }
}
