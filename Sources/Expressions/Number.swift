/// A number of an expression: exact if it is whole.
///
/// 128 bits hold every value of `Int64` and `UInt64`, so that mixing the two loses nothing.
enum Number {
    case whole(Int128)
    case real(Double)

    /// The number that a value is or, for a text, spells in decimal; nil if it is not a number.
    init?(_ value: Value) {
        switch value {
        case .boolean(let value): self = .whole(value ? 1 : 0)
        case .integer(let value): self = .whole(Int128(value))
        case .unsigned(let value): self = .whole(Int128(value))
        case .number(let value): self = .real(value)
        case .text(let text): self.init(decimal: text)
        case .absent, .bytes: return nil
        }
    }

    /// The number a text spells: `5`, `-12`, `+1.50`, `6e23`. No spaces, no hexadecimal, no `inf`.
    init?(decimal text: String) {
        var digits = 0
        var magnitude: Int128 = 0
        var negative = false
        var isWhole = true
        var previous: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits += 1
                if isWhole, digits <= 38 { magnitude = magnitude &* 10 &+ Int128(byte - UInt8(ascii: "0")) }
            case UInt8(ascii: "+"), UInt8(ascii: "-"):
                guard previous == 0 || previous | 0x20 == UInt8(ascii: "e") else { return nil }
                if previous == 0 { negative = byte == UInt8(ascii: "-") }
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
                // A digit on both sides; the rest is left to `Double`.
                guard previous >= UInt8(ascii: "0"), previous <= UInt8(ascii: "9") else { return nil }
                isWhole = false
            default:
                return nil
            }
            previous = byte
        }
        guard previous >= UInt8(ascii: "0"), previous <= UInt8(ascii: "9") else { return nil }
        if isWhole, digits <= 38 {
            self = .whole(negative ? -magnitude : magnitude)
        } else if let real = Double(text) {
            self = .real(real)
        } else {
            return nil
        }
    }

    /// The value with this number in it. Whole numbers beyond 64 bits become the nearest floating-point number.
    var value: Value {
        switch self {
        case .whole(let whole):
            if let integer = Int64(exactly: whole) { return .integer(integer) }
            if let unsigned = UInt64(exactly: whole) { return .unsigned(unsigned) }
            return .number(Double(whole))
        case .real(let real):
            return .number(real)
        }
    }

    private var real: Double {
        switch self {
        case .whole(let whole): Double(whole)
        case .real(let real): real
        }
    }
}

extension Number {
    /// The order of two numbers, without rounding either; nil if one is not a number.
    func compared(to other: Number) -> Ordering? {
        switch (self, other) {
        case (.whole(let left), .whole(let right)): Ordering(left, right)
        case (.real(let left), .real(let right)): left.isNaN || right.isNaN ? nil : Ordering(left, right)
        case (.whole(let left), .real(let right)): Number.compare(left, right)
        case (.real(let left), .whole(let right)): Number.compare(right, left)?.reversed
        }
    }

    private static func compare(_ whole: Int128, _ real: Double) -> Ordering? {
        if real.isNaN { return nil }
        // 2^127 is beyond every whole number that can occur here, of at most 38 digits; what is below it fits 128 bits.
        if real >= 0x1p127 { return .before }
        if real <= -0x1p127 { return .after }
        let floor = real.rounded(.down)
        let order = Ordering(whole, Int128(floor))
        return order == .same && real > floor ? .before : order
    }

    /// The result of an operator; absent if there is none (division by 0, bits of a fraction).
    func applying(_ operation: Arithmetic, to other: Number) -> Value {
        guard case (.whole(let left), .whole(let right)) = (self, other) else {
            return Number.apply(operation, real, other.real)
        }
        switch operation {
        case .add: return Number.exact(left.addingReportingOverflow(right), left, right, +)
        case .subtract: return Number.exact(left.subtractingReportingOverflow(right), left, right, -)
        case .multiply: return Number.exact(left.multipliedReportingOverflow(by: right), left, right, *)
        case .divide:
            guard right != 0 else { return .absent }
            let (quotient, remainder) = left.quotientAndRemainder(dividingBy: right)
            return remainder == 0 ? Number.whole(quotient).value : .number(Double(left) / Double(right))
        case .remainder: return right == 0 ? .absent : Number.whole(left % right).value
        case .bits: return Number.whole(left & right).value
        }
    }

    private static func exact(
        _ result: (partialValue: Int128, overflow: Bool), _ left: Int128, _ right: Int128,
        _ rounded: (Double, Double) -> Double
    ) -> Value {
        result.overflow ? .number(rounded(Double(left), Double(right))) : Number.whole(result.partialValue).value
    }

    private static func apply(_ operation: Arithmetic, _ left: Double, _ right: Double) -> Value {
        switch operation {
        case .add: .number(left + right)
        case .subtract: .number(left - right)
        case .multiply: .number(left * right)
        case .divide: right == 0 ? .absent : .number(left / right)
        case .remainder: right == 0 ? .absent : .number(left.truncatingRemainder(dividingBy: right))
        case .bits: .absent
        }
    }
}
