extension Parser {
    // MARK: Comparisons

    mutating func comparison() throws(Fault) -> Operand {
        let left = try arithmetic()
        let start = token.range.lowerBound
        let result = try comparison(of: left)
        // `a == b == c` reads as if it compared three values.
        if token.range.lowerBound > start, isComparison {
            throw Fault(
                token.range.lowerBound, expected: "`and`, `or` or the end (comparisons do not chain)",
                found: lexer.describe(token))
        }
        return result
    }

    private var isComparison: Bool {
        token.relation != nil || token.isSymbol("~") || ["matches", "in", "exists"].contains(token.word)
    }

    private mutating func comparison(of left: Operand) throws(Fault) -> Operand {
        if let relation = token.relation {
            if relation.isSearch {
                try require(left, in: [.text, .unknown], "text or bytes before `\(relation.rawValue)`")
            }
            try advance()
            let right = try arithmetic()
            if relation.isSearch {
                try require(right, in: [.text, .unknown], "text or bytes after `\(relation.rawValue)`")
            }
            return try append(.compare(relation, left.node, right.node), using: [left, right])
        }
        if token.isSymbol("~") { return try match(left) }
        switch token.word {
        case "matches": return try match(left)
        case "in": return try membership(of: left)
        case "not":
            try advance()
            guard token.word == "in" else { throw expected("`in` after `not`") }
            let member = try membership(of: left)
            return try append(.not(member.node), using: [member])
        case "exists":
            guard case .field(let path) = nodes[left.node] else {
                throw Fault(token.range.lowerBound, "`exists` needs a field before it")
            }
            try advance()
            return replace(left, with: .exists(path: path))
        default: return left
        }
    }

    private mutating func match(_ left: Operand) throws(Fault) -> Operand {
        try require(left, in: [.text, .unknown], "text or bytes before `matches`")
        try advance()
        guard token.kind == .string else { throw expected("a pattern in quotes") }
        let inside = token.range.lowerBound + 1..<token.range.upperBound - 1
        let pattern = try Pattern(scalars: Array(lexer.scalars[inside]), at: inside.lowerBound)
        try advance()
        return try append(.matches(left.node, pattern), using: [left])
    }

    private mutating func membership(of left: Operand) throws(Fault) -> Operand {
        try advance()
        guard token.isSymbol("{") else { throw expected("`{` after `in`") }
        var operands = [left]
        var elements: [Node.Element] = []
        repeat {
            try advance()
            let low = try arithmetic()
            operands.append(low)
            var high: Operand?
            if token.isSymbol("..") {
                try advance()
                high = try arithmetic()
            }
            if let high { operands.append(high) }
            elements.append(Node.Element(low: low.node, high: high?.node))
        } while token.isSymbol(",")
        guard token.isSymbol("}") else { throw expected("`,` or `}`") }
        try advance()
        return try append(.member(left.node, elements), using: operands)
    }

    // MARK: Arithmetic

    /// Operators from a precedence on, those of equal precedence from left to right.
    private mutating func arithmetic(_ precedence: Int = Arithmetic.bits.precedence) throws(Fault) -> Operand {
        var left = try signed()
        while let operation = token.arithmetic, operation.precedence >= precedence {
            try require(left, in: [.number, .unknown], "a number before `\(operation.rawValue)`")
            try advance()
            let right = try arithmetic(operation.precedence + 1)
            try require(right, in: [.number, .unknown], "a number after `\(operation.rawValue)`")
            left = try append(.arithmetic(operation, left.node, right.node), using: [left, right])
        }
        return left
    }

    private mutating func signed() throws(Fault) -> Operand {
        guard token.isSymbol("-") else { return try primary() }
        let start = token.range.lowerBound
        try enter()
        let operand = try signed()
        nesting -= 1
        try require(operand, in: [.number, .unknown], "a number after `-`")
        // A negative number is one literal, so that printing and parsing it agree.
        switch nodes[operand.node] {
        case .literal(.number(let real)): return replace(operand, with: .literal(.number(-real)))
        case .literal(let value):
            let negative = Arithmetic.subtract(.integer(0), value)
            if case .number = negative { throw Fault(start, "the number does not fit 64 bits") }
            return replace(operand, with: .literal(negative))
        default: return try append(.negate(operand.node), using: [operand], start: start)
        }
    }

    private mutating func primary() throws(Fault) -> Operand {
        let start = token.range.lowerBound
        let operand: Operand
        switch token.kind {
        case .number(let value): operand = try append(.literal(value), using: [])
        case .bytes(let bytes): operand = try append(.literal(.bytes(bytes)), using: [])
        case .string: operand = try append(.literal(.text(lexer.decode(token.range))), using: [])
        case .path(let path):
            if let word = token.word, Token.operatorWords.contains(word) { throw expected("a value") }
            if let word = token.word, let constant = Token.constants[word] {
                operand = try append(.literal(constant), using: [])
            } else {
                operand = try field(path)
            }
        case .symbol("("):
            try enter()
            let inner = try disjunction()
            guard token.isSymbol(")") else { throw expected("an operator or `)`") }
            nesting -= 1
            operand = Operand(node: inner.node, start: start, depth: inner.depth)
        case .symbol, .end: throw expected("a value")
        }
        try advance()
        return operand
    }

    // MARK: What is known of operands before there are values

    enum Kind { case condition, number, text, unknown }

    private func kind(of operand: Operand) -> Kind {
        switch nodes[operand.node] {
        case .field: .unknown
        case .arithmetic, .negate: .number
        case .literal(.text), .literal(.bytes): .text
        case .literal(.boolean): .condition
        case .literal: .number
        default: .condition
        }
    }

    private func require(_ operand: Operand, in kinds: [Kind], _ what: String) throws(Fault) {
        let kind = kind(of: operand)
        guard !kinds.contains(kind) else { return }
        let found =
            switch kind {
            case .condition: "a condition"
            case .number: "a number"
            case .text, .unknown: "text"
            }
        throw Fault(operand.start, expected: what, found: found)
    }
}
