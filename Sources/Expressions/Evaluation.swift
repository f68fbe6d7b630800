extension Expression {
    /// Whether the condition holds for the fields of `source`.
    package func evaluate<Source: FieldSource & ~Copyable>(_ source: borrowing Source) -> Bool {
        truth { source.value(at: paths[$0]) } ?? false
    }

    /// The value of the expression: a field's value, a number, or the truth of a condition.
    ///
    /// Pairing rules use it to compute the key of a frame.
    package func value<Source: FieldSource & ~Copyable>(_ source: borrowing Source) -> Value {
        value(nodes.count - 1) { source.value(at: paths[$0]) } ?? .absent
    }

    /// Whether the condition holds, as far as fields are known. A field is asked for only if the truth depends on it.
    ///
    /// - Parameter field: the value of the field with this index in `paths`; nil if it is not known.
    /// - Returns: nil if that depends on fields that are not known (the third value of Kleene's logic).
    package func truth(_ field: (_ path: Int) -> Value?) -> Bool? { condition(nodes.count - 1, field) }

    private func condition(_ index: Int, _ field: (Int) -> Value?) -> Bool? {
        switch nodes[index] {
        case .compare(let relation, let left, let right):
            guard let left = value(left, field), let right = value(right, field) else { return nil }
            return relation.holds(left, right)
        case .all(let operands): return condition(operands, joinedBy: false, field)
        case .any(let operands): return condition(operands, joinedBy: true, field)
        case .not(let operand): return condition(operand, field).map { !$0 }
        case .exists(let path): return field(path).map { $0 != .absent }
        case .matches(let operand, let pattern): return value(operand, field).map(pattern.matches)
        case .member(let operand, let elements):
            guard let wanted = value(operand, field) else { return nil }
            return contains(wanted, elements, field)
        case .literal, .field, .arithmetic, .negate: return value(index, field)?.isTrue
        }
    }

    /// - Parameter decisive: the truth of an operand that decides: true if they are joined by `or`, false if by `and`.
    private func condition(_ operands: [Int], joinedBy decisive: Bool, _ field: (Int) -> Value?) -> Bool? {
        var isKnown = true
        for operand in operands {
            let truth = condition(operand, field)
            if truth == decisive { return decisive }
            if truth == nil { isKnown = false }
        }
        return isKnown ? !decisive : nil
    }

    private func value(_ index: Int, _ field: (Int) -> Value?) -> Value? {
        switch nodes[index] {
        case .literal(let value): return value
        case .field(let path): return field(path)
        case .arithmetic(let operation, let left, let right):
            guard let left = value(left, field), let right = value(right, field) else { return nil }
            return operation(left, right)
        case .negate(let operand): return value(operand, field).map { Arithmetic.subtract(.integer(0), $0) }
        default: return condition(index, field).map(Value.boolean)
        }
    }

    private func contains(_ wanted: Value, _ elements: [Node.Element], _ field: (Int) -> Value?) -> Bool? {
        var isKnown = true
        for element in elements {
            guard let low = value(element.low, field) else {
                isKnown = false
                continue
            }
            if let end = element.high {
                guard let high = value(end, field) else {
                    isKnown = false
                    continue
                }
                if Relation.lessOrEqual.holds(low, wanted), Relation.lessOrEqual.holds(wanted, high) { return true }
            } else if Relation.equal.holds(wanted, low) {
                return true
            }
        }
        return isKnown ? false : nil
    }
}
