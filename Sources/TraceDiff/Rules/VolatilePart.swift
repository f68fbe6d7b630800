import Trace

/// What of a text is another one in each run: numbers with what joins them, such as a time of day.
enum VolatilePart {
    private enum Token: Hashable {
        case number
        case other(Character)
    }

    /// A pattern for the numbers that differ between two texts, and those that are joined to them: `\d+:\d+:\d+\.\d+`. Nil
    /// where more than numbers differ, or all of the text is one number.
    static func pattern(_ old: String, _ new: String) -> String? {
        let (left, right) = (tokens(of: old), tokens(of: new))
        guard left.map(\.token) == right.map(\.token), left.count > 1 else { return nil }
        let different = left.indices.filter { left[$0].text != right[$0].text }
        guard let first = different.first, let last = different.last else { return nil }
        guard left[first...last].count <= 16 else { return nil }
        var (start, end) = (first, last)
        while start >= 2, isJoint(left[start - 1]), left[start - 2].token == .number { start -= 2 }
        while end + 2 < left.count, isJoint(left[end + 1]), left[end + 2].token == .number { end += 2 }
        return left[start...end].map { part in
            switch part.token {
            case .number: #"\d+"#
            case .other(let character): escaped(character)
            }
        }.joined()
    }

    private static func tokens(of text: String) -> [(token: Token, text: String)] {
        var tokens: [(token: Token, text: String)] = []
        for character in text {
            let isDigit = character.isASCII && character.isNumber
            if isDigit, let last = tokens.last, last.token == .number {
                tokens[tokens.count - 1].text.append(character)
            } else {
                tokens.append((isDigit ? .number : .other(character), String(character)))
            }
        }
        return tokens
    }

    /// What stands inside of dates, times, decimals and addresses.
    private static func isJoint(_ part: (token: Token, text: String)) -> Bool { ":.-/T,".contains(part.text) }

    private static func escaped(_ character: Character) -> String {
        let isPlain = character.isLetter || character.isNumber || " :-/,".contains(character) || !character.isASCII
        return isPlain ? String(character) : "\\\(character)"
    }
}
