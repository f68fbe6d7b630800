extension Expression {
    /// Whether the condition holds for the fields of `source`.
    @inlinable
    package func evaluate<Source: FieldSource & ~Copyable & ~Escapable>(_ source: borrowing Source) -> Bool {
        condition(nodes.count - 1, source)
    }

    /// The value of the expression: a field's value, a number, or the truth of a condition.
    ///
    /// Pairing rules use it to compute the key of a frame.
    @inlinable
    package func value<Source: FieldSource & ~Copyable & ~Escapable>(_ source: borrowing Source) -> Value {
        value(nodes.count - 1, source)
    }

    @inlinable
    func condition<Source: FieldSource & ~Copyable & ~Escapable>(_ index: Int, _ source: borrowing Source) -> Bool {
        switch nodes[index] {
        case .compare(let relation, let left, let right):
            return relation.holds(value(left, source), value(right, source))
        case .all(let operands):
            for operand in operands where !condition(operand, source) { return false }
            return true
        case .any(let operands):
            for operand in operands where condition(operand, source) { return true }
            return false
        case .not(let operand):
            return !condition(operand, source)
        case .exists(let path):
            return source.value(at: paths[path]) != .absent
        case .matches(let operand, let pattern):
            return pattern.matches(value(operand, source))
        case .member(let operand, let elements):
            return contains(value(operand, source), elements, source)
        case .literal, .field, .arithmetic, .negate:
            return value(index, source).isTrue
        }
    }

    @inlinable
    func value<Source: FieldSource & ~Copyable & ~Escapable>(_ index: Int, _ source: borrowing Source) -> Value {
        switch nodes[index] {
        case .literal(let value): return value
        case .field(let path): return source.value(at: paths[path])
        case .arithmetic(let operation, let left, let right):
            return operation(value(left, source), value(right, source))
        case .negate(let operand): return Arithmetic.subtract(.integer(0), value(operand, source))
        default: return .boolean(condition(index, source))
        }
    }

    @inlinable
    func contains<Source: FieldSource & ~Copyable & ~Escapable>(
        _ wanted: Value, _ elements: [Node.Element], _ source: borrowing Source
    ) -> Bool {
        for element in elements {
            let low = value(element.low, source)
            if let high = element.high {
                let inside = Relation.lessOrEqual
                if inside.holds(low, wanted), inside.holds(wanted, value(high, source)) { return true }
            } else if Relation.equal.holds(wanted, low) {
                return true
            }
        }
        return false
    }
}
