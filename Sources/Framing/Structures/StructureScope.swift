import Expressions
import Streams

/// The values that expressions of a structure may refer to, innermost last.
struct StructureScope: FieldSource, Sendable {
    private(set) var values: [(path: [String], value: Value)] = []

    /// The values of a frame's header, for its body.
    init(_ fields: [Field] = []) {
        values = fields.map { ([$0.name], Value($0.value)) }
    }

    mutating func add(_ path: [String], _ value: Value) { values.append((path, value)) }

    /// Forgets all but the first values.
    mutating func shorten(to count: Int) {
        if values.count > count { values.removeLast(values.count - count) }
    }

    /// A value by its name, or by `fields.` and its name.
    func value(at path: [String]) -> Value {
        let path = path.first == "fields" && path.count > 1 ? path[1...] : path[...]
        return values.last { $0.path.elementsEqual(path) }?.value ?? .absent
    }

    /// A whole number; nil if the expression has no value, or another one.
    func number(_ expression: Expression) -> Int? {
        switch expression.value(self) {
        case .integer(let value): Int(value)
        case .unsigned(let value): Int(exactly: value) ?? .max
        case .number(let value): Int(exactly: value)
        case .text(let text): Int(text.filter { $0 != " " })
        default: nil
        }
    }

    func holds(_ condition: Expression?) -> Bool { condition?.evaluate(self) ?? true }
}
