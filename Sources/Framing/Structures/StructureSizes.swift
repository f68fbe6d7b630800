import Expressions
import Streams

/// Sets the fields that decide a size, so that an expression has a wanted value: the inverse of evaluating it.
///
/// Each field that the expression names is tried, in the order of the structure; a size may be held by one of several, as
/// WebSocket's length is (RFC 6455 section 5.2). What is found is checked by evaluating the expression.
struct StructureSizes {
    let structure: Structure
    let items: [Structure.Item]
    /// The values of the enclosing sequences.
    let scope: StructureScope

    /// Sets members so that the expression has this value; leaves them as they are if it has, or if nothing can be found.
    func set(_ size: Expression, to count: Int, _ members: inout StructureMembers) {
        if value(of: size, members) == count { return }
        for path in size.paths {
            for item in items where item.names.contains(path[0]) {
                var trial = members
                guard assign(item, path, size, count, &trial), value(of: size, trial) == count else { continue }
                members = trial
                return
            }
        }
    }

    private func assign(
        _ item: Structure.Item, _ path: [String], _ size: Expression, _ count: Int, _ members: inout StructureMembers
    ) -> Bool {
        // What makes the item the one that is there.
        for (name, value) in item.condition?.equalities ?? [] where name.count == 1 {
            put(.init(value), at: name, &members)
        }
        switch item.content {
        case .computed(let expression):
            guard expression.paths.count == 1, expression.paths[0] != path else { return false }
            for source in items where source.names.contains(expression.paths[0][0]) {
                var trial = members
                if assign(source, expression.paths[0], size, count, &trial), value(of: size, trial) == count {
                    members = trial
                    return true
                }
            }
            return false
        case .field, .words, .lines, .ended, .sized:
            guard let wanted = solve(size, path, count, members) else { return false }
            put(.integer(Int64(wanted)), at: path, &members)
            if case .field(let field) = item.content {
                let given = members.fields(named: [field.name] + field.bits.map(\.name))
                return (try? BinaryHead([field]).encode(given, body: 0)) != nil && isPresent(item, members)
            }
            return true
        default: return false
        }
    }

    private func put(_ value: FieldValue, at path: [String], _ members: inout StructureMembers) {
        // Bits replace the value of the field they belong to.
        for case .field(let field) in items.map(\.content) {
            guard let bits = field.bits.first(where: { $0.name == path[0] }) else { continue }
            let number = members.fields(named: [field.name]).first?.value
            // Its other bits remain, those without a name, too.
            if let number, let whole = try? bits.setting(value, in: number) {
                for bits in field.bits { members[bits.name] = nil }
                members[field.name] = JSONValue(whole)
                return
            }
            if let number = number?.bitPattern {
                for bits in field.bits where members[bits.name] == nil {
                    members[bits.name] = JSONValue(.integer(bits.value(in: number)))
                }
            }
            members[field.name] = nil
        }
        if path.count == 1 {
            members[path[0]] = JSONValue(value)
        } else if path.count == 2 {
            // A header line, whose name is written as it was.
            var lines = StructureMembers(members[path[0]])
            let name = lines.names.first { $0.lowercased() == path[1] } ?? path[1]
            if let place = lines.names.firstIndex(of: name) {
                members[path[0]] = .object(
                    lines.members.enumerated().map { index, member in
                        index == place ? JSONValue.Member(name, .text(value.plainText ?? "")) : member
                    })
            } else {
                lines[name] = .text(value.plainText ?? "")
                members[path[0]] = .object(lines.members)
            }
        }
    }

    /// The value of a path at which the expression has the wanted value: by its slope, or by bisection if it grows with it.
    private func solve(_ size: Expression, _ path: [String], _ wanted: Int, _ members: StructureMembers) -> Int? {
        func at(_ value: Int) -> Int? {
            var trial = members
            put(.integer(Int64(value)), at: path, &trial)
            return self.value(of: size, trial)
        }
        guard let zero = at(0), let one = at(1) else { return nil }
        let (rise, step) = (wanted.subtractingReportingOverflow(zero), one.subtractingReportingOverflow(zero))
        guard !rise.overflow, !step.overflow else { return nil }
        // The quotient of the least number and -1 does not fit.
        if step.partialValue != 0, rise.partialValue != .min {
            let (quotient, remainder) = rise.partialValue.quotientAndRemainder(dividingBy: step.partialValue)
            if remainder == 0, at(quotient) == wanted { return quotient }
        }
        var (low, high) = (0, 1 << 32)
        while low < high {
            let middle = (low + high) / 2
            guard let value = at(middle) else { return nil }
            if value < wanted { low = middle + 1 } else { high = middle }
        }
        return at(low) == wanted ? low : nil
    }

    /// Whether an item is there, given the values before it.
    func isPresent(_ item: Structure.Item, _ members: StructureMembers) -> Bool {
        values(members).holds(item.condition)
    }

    /// The value of an expression after the items.
    func value(of size: Expression, _ members: StructureMembers) -> Int? { values(members).number(size) }

    /// The values as a walk would have them after the items.
    func values(_ members: StructureMembers) -> StructureScope {
        var known = scope
        for item in items where known.holds(item.condition) {
            switch item.content {
            case .field(let field):
                let given = members.fields(named: [field.name] + field.bits.map(\.name))
                guard let bytes = try? BinaryHead([field]).encode(given, body: 0) else { continue }
                let value = field.value(in: bytes.span.bytes, at: 0, size: bytes.count)
                known.add([item.name], Value(value))
                if let number = value.bitPattern {
                    for bits in field.bits { known.add([bits.name], .integer(bits.value(in: number))) }
                }
            case .computed(let expression): known.add([item.name], expression.value(known))
            case .lines:
                for line in StructureMembers(members[item.name]).members {
                    if let value = line.value.field { known.add([item.name, line.name.lowercased()], Value(value)) }
                }
            default:
                for name in item.names { if let value = members[name]?.field { known.add([name], Value(value)) } }
            }
        }
        return known
    }
}
