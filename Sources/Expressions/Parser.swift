/// Reads an expression by recursive descent: one function for each level of precedence, loosest first.
struct Parser {
    private(set) var nodes: [Node] = []
    private(set) var paths: [[String]] = []
    var lexer: Lexer
    var token: Token
    private var pathIndices: [[String]: Int] = [:]
    var nesting = 0
    private let complaint: ([String]) -> String?

    /// A node about to be used as an operand.
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

    /// Both levels in one function: each function that nesting goes through costs call stack at every level.
    mutating func disjunction() throws(Fault) -> Operand {
        var branches: [Operand] = []
        repeat {
            if !branches.isEmpty { try advance() }
            var operands = [try negation()]
            while token.word == "and" || token.isSymbol("&&") {
                try advance()
                operands.append(try negation())
            }
            branches.append(try list(operands, Node.all))
        } while token.word == "or" || token.isSymbol("||")
        return try list(branches, Node.any)
    }

    private mutating func list(_ operands: [Operand], _ node: ([Int]) -> Node) throws(Fault) -> Operand {
        operands.count == 1 ? operands[0] : try append(node(operands.map(\.node)), using: operands)
    }

    private mutating func negation() throws(Fault) -> Operand {
        let start = token.range.lowerBound
        guard token.word == "not" || token.isSymbol("!") else { return try comparison() }
        try enter()
        let operand = try negation()
        nesting -= 1
        return try append(.not(operand.node), using: [operand], start: start)
    }

    // MARK: Helpers of all levels

    mutating func advance() throws(Fault) {
        token = try lexer.next()
    }

    /// Enters a nested construct, unless that is too deep. The caller decrements `nesting` again.
    mutating func enter() throws(Fault) {
        guard nesting < Expression.nestingLimit else { throw tooDeep(token.range.lowerBound) }
        nesting += 1
        try advance()
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

    /// Replaces the newest node with another one without operands.
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
        Fault(offset, "the expression is nested too deeply")
    }
}
