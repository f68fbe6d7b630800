/// A word of an expression and where it begins and ends, in scalars of the text.
struct Token {
    enum Kind: Equatable {
        /// A field's path, or a word of the language: a path of one name.
        case path([String])
        /// A string in quotes, which are part of the range. What its escapes mean depends on what uses it.
        case string
        case bytes([UInt8])
        case number(Value)
        /// An operator or a bracket.
        case symbol(String)
        case end
    }

    let kind: Kind
    let range: Range<Int>

    /// The word, if the token is a single one.
    var word: String? {
        if case .path(let path) = kind, path.count == 1 { path[0] } else { nil }
    }

    func isSymbol(_ text: String) -> Bool { kind == .symbol(text) }
}

extension Token {
    /// The words that are not fields.
    static let constants: [String: Value] = [
        "client": .text("client"), "server": .text("server"), "true": .boolean(true), "false": .boolean(false),
    ]

    /// Operators by their spelling.
    static let relations: [String: Relation] = [
        "==": .equal, "=": .equal, "eq": .equal, "!=": .notEqual, "ne": .notEqual,
        "<": .less, "lt": .less, "<=": .lessOrEqual, "le": .lessOrEqual,
        ">": .greater, "gt": .greater, ">=": .greaterOrEqual, "ge": .greaterOrEqual,
        "contains": .contains, "startsWith": .startsWith, "endsWith": .endsWith,
    ]

    /// Words that are operators and not fields.
    static let operatorWords: Set<String> = [
        "and", "or", "not", "in", "exists", "matches", "contains", "startsWith", "endsWith",
        "eq", "ne", "lt", "le", "gt", "ge",
    ]

    /// The token as a comparison operator.
    var relation: Relation? {
        if case .symbol(let symbol) = kind { return Token.relations[symbol] }
        return word.flatMap { Token.relations[$0] }
    }

    /// The token as an arithmetic operator.
    var arithmetic: Arithmetic? {
        if case .symbol(let symbol) = kind { Arithmetic(rawValue: symbol) } else { nil }
    }
}
