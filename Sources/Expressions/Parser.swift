/// Reads an expression by recursive descent: one function for each level of precedence, loosest first.
struct Parser {
    private(set) var nodes: [Node] = []
    private(set) var paths: [[String]] = []
    var lexer: Lexer
    var token: Token
    private var pathIndices: [[String]: Int] = [:]
    private var nesting = 0
    private let complaint: ([String]) -> String?

    /// A node that something is about to use.
    struct Operand {
        var node: Int
        /// Where it begins in the text.
        let start: Int
        /// How many levels of nodes it has.
        let depth: Int
    }

    init(_ text: String, complaint: @escaping ([String]) -> String?) throws(Fault) {
        lexer = Lexer(text)
        token = try lexer.next()
        self.complaint = complaint
    }

    /// Reads the whole text.
    mutating func parse() throws(Fault) {
        _ = try disjunction()
        guard token.kind == .end else { throw expected("an operator or the end") }
    }

    // MARK: Conditions

    mutating func disjunction() throws(Fault) -> Operand {
        let first = try conjunction()
        guard token.word == "or" || token.isSymbol("||") else { return first }
        var operands = [first]
        while token.word == "or" || token.isSymbol("||") {
            try advance()
            operands.append(try conjunction())
        }
        return try append(.any(operands.map(\.node)), using: operands)
    }

    private mutating func conjunction() throws(Fault) -> Operand {
        let first = try negation()
        guard token.word == "and" || token.isSymbol("&&") else { return first }
        var operands = [first]
        while token.word == "and" || token.isSymbol("&&") {
            try advance()
            operands.append(try negation())
        }
        return try append(.all(operands.map(\.node)), using: operands)
    }

    private mutating func negation() throws(Fault) -> Operand {
        let start = token.range.lowerBound
        guard token.word == "not" || token.isSymbol("!") else { return try comparison() }
        let operand = try nested { parser throws(Fault) in
            try parser.advance()
            return try parser.negation()
        }
        return try append(.not(operand.node), using: [operand], start: start)
    }

    // MARK: Helpers of all levels

    mutating func advance() throws(Fault) {
        token = try lexer.next()
    }

    /// Reads something inside something else, unless that is too deep. The call stack grows with nesting only.
    mutating func nested(_ read: (inout Parser) throws(Fault) -> Operand) throws(Fault) -> Operand {
        guard nesting < Expression.depthLimit else { throw tooDeep(token.range.lowerBound) }
        nesting += 1
        defer { nesting -= 1 }
        return try read(&self)
    }

    mutating func append(_ node: Node, using operands: [Operand], start: Int? = nil) throws(Fault) -> Operand {
        let start = start ?? operands.first?.start ?? token.range.lowerBound
        let depth = 1 + (operands.map(\.depth).max() ?? 0)
        guard depth <= Expression.depthLimit else { throw tooDeep(token.range.lowerBound) }
        guard nodes.count < Expression.nodeLimit else {
            throw Fault(start, "the expression has more than \(Expression.nodeLimit) operands and operators")
        }
        nodes.append(node)
        return Operand(node: nodes.count - 1, start: start, depth: depth)
    }

    /// Makes the newest node another one, without operands of its own.
    mutating func replace(_ operand: Operand, with node: Node) -> Operand {
        nodes[operand.node] = node
        return operand
    }

    mutating func field(_ path: [String]) throws(Fault) -> Operand {
        if let message = complaint(path) { throw Fault(token.range.lowerBound, message) }
        let index = pathIndices[path] ?? paths.count
        if index == paths.count {
            paths.append(path)
            pathIndices[path] = index
        }
        return try append(.field(index), using: [])
    }

    func expected(_ what: String) -> Fault {
        Fault(token.range.lowerBound, expected: what, found: lexer.describe(token))
    }

    private func tooDeep(_ offset: Int) -> Fault {
        Fault(offset, "the expression is nested more than \(Expression.depthLimit) deep")
    }
}
