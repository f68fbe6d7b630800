/// A condition over named fields, for filters, heartbeat and pairing rules.
///
///     type == "img" && length > 1000
///     from == client and fields.targetID matches "^Cinent"
///     body.json.userId exists or not heartbeat
///     type in {"txt", "img"} and (length - 2) * 8 > 100
///
/// From the loosest to the tightest: `or` `||`; `and` `&&`; `not` `!`; the comparisons `==` `!=` `<` `<=` `>` `>=` (also
/// `=` and `eq ne lt le gt ge`), `in {…}`, `not in {…}`, `contains`, `startsWith`, `endsWith`, `matches` (also `~`) and
/// `exists`; `&` (bits); `+` `-`; `*` `/` `%`; `-x`. As in Wireshark, `!type == "a"` is `not (type == "a")`.
///
/// A field is a path: `length`, `fields.size`, `body.json.items[0].id`, `body.protobuf.1.2`, `fields["user-id"]`. Literals are
/// `"text"` or `'text'` (escapes `\" \' \\ \n \r \t \0 \x41 \u{5fc3}`), `x"ff d8"` (bytes), `12`, `-1`, `0x1f`, `1.5e3`, and the
/// words `client`, `server` (texts), `true` and `false`. The right side of `matches` is a `Pattern`, in which a backslash belongs
/// to the pattern: `matches "^\d+$"`.
///
/// A missing field: every comparison with it is false, including `!=`; arithmetic with it gives a missing value; `exists` is
/// false; as a condition it is false. (So if `x` is missing, `not (x == 1)` holds and `x != 1` does not.) `Value.compared(to:)`
/// defines equality and order; `!=` between values that cannot be compared holds, order does not. Sums are exact within 64 bits
/// and floating-point beyond; `/` gives a fraction if necessary; `x / 0` is missing.
package struct Expression: Sendable, Hashable {
    /// The fields that the expression reads, each once, in order of first mention.
    package let paths: [[String]]

    /// Operands before their users; the last one is the whole expression.
    let nodes: [Node]

    /// The most bytes of UTF-8 an expression may have.
    package static let sizeLimit = 262_144
    /// The most operands and operators an expression may have.
    package static let nodeLimit = 10_000
    /// How deeply parentheses and signs may nest: few enough for a call stack of 256 KiB (in a release build).
    package static let nestingLimit = 32
    /// How deeply operators may nest; a long sum or product nests once per operator.
    package static let depthLimit = 100

    /// Parses an expression.
    ///
    /// - Parameters:
    ///   - text: the expression.
    ///   - complaint: called once for each mention of a field; its result is the message of an error at that column. By default
    ///     every field is accepted.
    /// - Throws: the first error, with its column.
    package init(
        parsing text: String, complaint: @escaping (_ path: [String]) -> String? = { _ in nil }
    ) throws(ExpressionError) {
        guard text.utf8.count <= Expression.sizeLimit else {
            let fault = Fault(0, "the expression has more than \(Expression.sizeLimit) bytes")
            throw ExpressionError(fault, in: text)
        }
        do {
            var parser = try Parser(text, complaint: complaint)
            try parser.parse()
            (nodes, paths) = (parser.nodes, parser.paths)
        } catch {
            throw ExpressionError(error, in: text)
        }
    }
}

/// The names and values of fields: a frame, as seen by expressions.
package protocol FieldSource: ~Copyable {
    /// The value of a field, or `absent`.
    ///
    /// - Parameter path: at least one name; an index into a list is its decimal text.
    func value(at path: [String]) -> Value
}

extension Expression {
    /// The texts with which a field is compared: by `==` and `!=`, and in the lists of `in`.
    package func texts(comparedWith path: [String]) -> [String] {
        func isField(_ index: Int) -> Bool {
            if case .field(let place) = nodes[index] { paths[place] == path } else { false }
        }
        func text(_ index: Int) -> String? {
            if case .literal(.text(let text)) = nodes[index] { text } else { nil }
        }
        return nodes.flatMap { node -> [String] in
            switch node {
            case .compare(.equal, let left, let right), .compare(.notEqual, let left, let right):
                [isField(left) ? text(right) : nil, isField(right) ? text(left) : nil].compactMap { $0 }
            case .member(let operand, let elements) where isField(operand):
                elements.filter { $0.high == nil }.compactMap { text($0.low) }
            default: []
            }
        }
    }

    /// The comparisons `field == literal` that must hold for the whole expression to hold: all of it, or joined by `and`.
    package var equalities: [(path: [String], value: Value)] {
        guard !nodes.isEmpty else { return [] }
        var open = [nodes.count - 1]
        var found: [(path: [String], value: Value)] = []
        while let index = open.popLast() {
            switch nodes[index] {
            case .all(let operands): open += operands
            case .compare(.equal, let left, let right):
                switch (nodes[left], nodes[right]) {
                case (.field(let path), .literal(let value)), (.literal(let value), .field(let path)):
                    found.append((paths[path], value))
                default: break
                }
            default: break
            }
        }
        return found
    }
}
