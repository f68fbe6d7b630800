import Expressions
import Streams

/// The values that expressions of a structure may refer to, innermost last.
struct StructureScope: FieldSource, Sendable {
    /// A value, by its name and those of the groups that it is in.
    private struct Entry: Sendable {
        var groups: [String] = []
        var name: String
        var value: Value
    }

    private var values: [Entry] = []
    /// Header lines, each with a place of its own among the values.
    private var lines: [(place: Int, name: String, lines: ReferencedLines)] = []

    /// How many there are: what is added later is forgotten with `shorten`.
    var count: Int { values.count }

    /// The values of a frame's header, for its body.
    init(_ fields: [Field] = []) {
        values = fields.map { Entry(name: $0.name, value: Value($0.value)) }
    }

    mutating func add(_ name: String, _ value: Value, in groups: [String] = []) {
        // One allocation for most frames.
        if values.capacity == 0 { values.reserveCapacity(8) }
        values.append(Entry(groups: groups, name: name, value: value))
    }

    /// Adds a value at a path, which is not empty.
    mutating func add(_ path: [String], _ value: Value) {
        guard let name = path.last else { return }
        add(name, value, in: Array(path.dropLast()))
    }

    /// Adds the length of the header.
    mutating func addLength(_ length: Int) {
        add(StructuredHead.lengthName, .integer(Int64(length)), in: StructuredHead.lengthGroups)
    }

    /// Adds the values of header lines.
    mutating func add(_ name: String, _ lines: ReferencedLines) {
        self.lines.append((values.count, name, lines))
        add("", .absent)
    }

    /// Forgets all but the first values.
    mutating func shorten(to count: Int) {
        guard values.count > count else { return }
        values.removeLast(values.count - count)
        while let last = lines.last, last.place >= count { lines.removeLast() }
    }

    /// A value by its name, or by `fields.` and its name.
    func value(at path: [String]) -> Value {
        let first = path.count > 1 && path[0] == "fields" ? 1 : 0
        guard path.count > first else { return .absent }
        let last = path.count - 1
        let found = values.indices.last { isAt(path, from: first, $0) }
        if !lines.isEmpty, last == first + 1 {
            for known in lines.reversed() where known.place > found ?? -1 && known.name == path[first] {
                if let value = known.lines.value(of: path[last]) { return Value(value) }
            }
        }
        return found.map { values[$0].value } ?? .absent
    }

    /// Whether a value has these groups and this name. Nothing is copied for that.
    private func isAt(_ path: [String], from first: Int, _ index: Int) -> Bool {
        let count = path.count - 1 - first
        guard values[index].groups.count == count, values[index].name == path[path.count - 1] else { return false }
        return count == 0 || values[index].groups.elementsEqual(path[first..<first + count])
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
