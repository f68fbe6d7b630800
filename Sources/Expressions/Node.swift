/// One step of an expression. Steps are kept in one array, operands before their users, and refer to each other by index:
/// copying, hashing and freeing an expression needs no recursion, however it was nested.
enum Node: Hashable, Sendable {
    case literal(Value)
    /// The field with this index in `paths`.
    case field(Int)
    case exists(path: Int)
    case compare(Relation, Int, Int)
    case matches(Int, Pattern)
    case member(Int, [Element])
    case arithmetic(Arithmetic, Int, Int)
    case negate(Int)
    case not(Int)
    case all([Int])
    case any([Int])

    /// An element of `in {…}`: a value or a range.
    struct Element: Hashable, Sendable {
        let low: Int
        let high: Int?
    }
}

/// A comparison operator; the raw value is the printed spelling.
enum Relation: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case contains
    case startsWith
    case endsWith

    /// Whether it searches in text or bytes rather than comparing whole values.
    var isSearch: Bool { self == .contains || self == .startsWith || self == .endsWith }

    /// Whether it holds between two values: never if one is missing.
    func holds(_ left: Value, _ right: Value) -> Bool {
        switch self {
        case .equal: left.compared(to: right) == .same
        case .notEqual: left != .absent && right != .absent && left.compared(to: right) != .same
        case .less: left.compared(to: right) == .before
        case .lessOrEqual: left.compared(to: right).map { $0 != .after } ?? false
        case .greater: left.compared(to: right) == .after
        case .greaterOrEqual: left.compared(to: right).map { $0 != .before } ?? false
        case .contains: left.contains(right)
        case .startsWith: left.starts(with: right)
        case .endsWith: left.ends(with: right)
        }
    }
}

/// An arithmetic operator; the raw value is its spelling.
enum Arithmetic: String, Sendable {
    case add = "+"
    case subtract = "-"
    case multiply = "*"
    case divide = "/"
    case remainder = "%"
    case bits = "&"

    /// The result, or absent if an operand is not a number.
    func callAsFunction(_ left: Value, _ right: Value) -> Value {
        guard let left = Number(left), let right = Number(right) else { return .absent }
        return left.applying(self, to: right)
    }

    /// Binds more tightly the higher it is.
    var precedence: Int {
        switch self {
        case .bits: 4
        case .add, .subtract: 5
        case .multiply, .divide, .remainder: 6
        }
    }
}
