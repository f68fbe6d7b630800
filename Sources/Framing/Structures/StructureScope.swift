import Expressions
import Streams

/// The values that expressions of a structure may refer to, innermost last.
struct StructureScope: FieldSource, Sendable {
    /// A value, by its name and those of the groups that it is in; or all those of header lines.
    private struct Entry: Sendable {
        var groups: [String] = []
        var name: String
        var value = Value.absent
        var lines: ReferencedLines?

        func value(at path: [String], from first: Int) -> Value? {
            let last = path.count - 1
            if let lines {
                guard last == first + 1, path[first] == name else { return nil }
                return lines.value(of: path[last]).map { Value($0) }
            }
            guard groups.count == last - first, path[last] == name else { return nil }
            for index in groups.indices where groups[index] != path[first + index] { return nil }
            return value
        }
    }

    private var values: [Entry] = []
    /// How many there are: what is added later is forgotten with `shorten`.
    var count: Int { values.count }

    /// The values of a frame's header, for its body.
    init(_ fields: [Field] = []) {
        values = fields.map { Entry(name: $0.name, value: Value($0.value)) }
    }

    mutating func add(_ name: String, _ value: Value, in groups: [String] = []) {
        values.append(Entry(groups: groups, name: name, value: value))
    }

    /// Adds a value at a path, which is not empty.
    mutating func add(_ path: [String], _ value: Value) {
        guard let name = path.last else { return }
        add(name, value, in: Array(path.dropLast()))
    }

    /// Adds the values of header lines.
    mutating func add(_ name: String, _ lines: ReferencedLines) { values.append(Entry(name: name, lines: lines)) }

    /// Forgets all but the first values.
    mutating func shorten(to count: Int) {
        if values.count > count { values.removeLast(values.count - count) }
    }

    /// A value by its name, or by `fields.` and its name.
    func value(at path: [String]) -> Value {
        let first = path.count > 1 && path[0] == "fields" ? 1 : 0
        guard path.count > first else { return .absent }
        var index = values.count
        while index > 0 {
            index -= 1
            if let value = values[index].value(at: path, from: first) { return value }
        }
        return .absent
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
