extension Expression: CustomStringConvertible {
    /// The expression in its plainest spelling; parsing it gives the same expression.
    package var description: String { text(nodes.count - 1, above: 0) }

    /// The spelling of a node, in parentheses if it binds no more tightly than its context.
    private func text(_ index: Int, above surrounding: Int) -> String {
        let precedence = precedence(index)
        let text = text(index, precedence)
        return precedence <= surrounding ? "(\(text))" : text
    }

    private func precedence(_ index: Int) -> Int {
        switch nodes[index] {
        case .any: 1
        case .all: 2
        case .not: 3
        case .exists, .compare, .matches, .member: 4
        case .arithmetic(let operation, _, _): operation.precedence + 1
        case .negate: 8
        case .literal(let value): value.isNegativeLiteral ? 8 : 9
        case .field: 9
        }
    }

    private func text(_ index: Int, _ precedence: Int) -> String {
        switch nodes[index] {
        case .any(let operands): operands.map { text($0, above: precedence) }.joined(separator: " or ")
        case .all(let operands): operands.map { text($0, above: precedence) }.joined(separator: " and ")
        case .not(let operand): "not " + text(operand, above: precedence - 1)
        case .exists(let path): paths[path].fieldPath + " exists"
        case .compare(let relation, let left, let right):
            "\(text(left, above: precedence)) \(relation.rawValue) \(text(right, above: precedence))"
        case .matches(let operand, let pattern):
            "\(text(operand, above: precedence)) matches \(pattern.quoted)"
        case .member(let operand, let elements):
            "\(text(operand, above: precedence)) in {\(elements.map(text).joined(separator: ", "))}"
        case .arithmetic(let operation, let left, let right):
            "\(text(left, above: precedence - 1)) \(operation.rawValue) \(text(right, above: precedence))"
        case .negate(let operand): "-" + text(operand, above: precedence - 1)
        case .literal(let value): value.literal
        case .field(let path): paths[path].fieldPath
        }
    }

    private func text(_ element: Node.Element) -> String {
        let low = text(element.low, above: 4)
        return element.high.map { "\(low) .. \(text($0, above: 4))" } ?? low
    }
}

extension [String] {
    /// Names joined as a field is written in expressions: `body.json["user-id"]`.
    fileprivate var fieldPath: String {
        var text = first ?? ""
        for name in dropFirst() {
            if !name.isEmpty, name.unicodeScalars.allSatisfy(\.continuesName) {
                text += "." + name
            } else {
                text += "[\(Value.text(name).literal)]"
            }
        }
        return text
    }
}

extension Value {
    fileprivate var isNegativeLiteral: Bool {
        switch self {
        case .integer(let value): value < 0
        case .number(let value): value.sign == .minus
        default: false
        }
    }

    /// The value as a literal; a missing one has none.
    fileprivate var literal: String {
        switch self {
        case .absent: ""
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .number(let value): "\(value)"
        case .text(let text): "\"" + text.unicodeScalars.map(\.escaped).joined() + "\""
        case .bytes(let bytes):
            "x\"" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
        }
    }
}

extension Unicode.Scalar {
    fileprivate var escaped: String {
        switch self {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: isShown ? String(self) : "\\u{\(String(value, radix: 16))}"
        }
    }
}
