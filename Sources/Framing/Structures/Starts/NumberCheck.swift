import Streams

/// A number that may have only some values.
final class NumberCheck: StartCheck {
    private let width: Int
    private let isSigned: Bool
    private let order: ByteOrder
    private let ranges: [[ClosedRange<Int64>]]
    private let bits: [HeaderField.Bits]

    /// The check of a field; nil if it is no number, or may have any value.
    ///
    /// - Parameter allowed: the values that its item may have; empty: all.
    init?(_ field: HeaderField, _ allowed: [AllowedValues]) {
        switch field.kind {
        case .unsigned(let width): (self.width, isSigned) = (width, false)
        case .signed(let width): (self.width, isSigned) = (width, true)
        default: return nil
        }
        order = field.order
        ranges = [field.allowed, allowed].compactMap { Self.ranges($0) }
        bits = field.bits.filter { $0.constant != nil }
        if ranges.isEmpty, bits.isEmpty { return nil }
    }

    /// Nil if all values are allowed, or some that are no numbers.
    private static func ranges(_ allowed: [AllowedValues]) -> [ClosedRange<Int64>]? {
        var ranges: [ClosedRange<Int64>] = []
        for values in allowed {
            guard case .integer(let low) = values.low, case .integer(let high) = values.high else { return nil }
            if low <= high { ranges.append(low...high) }
        }
        return allowed.isEmpty ? nil : ranges
    }

    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict {
        guard width <= bytes.byteCount - at else { return .open }
        return mayBe(bytes.unsigned(at: at, width: width, order)) ? .fits(at + width) : .isOut
    }

    private func mayBe(_ raw: UInt64) -> Bool {
        let shift = UInt64(64 - 8 * width)
        // Larger ones are no `Int64`, and compared in another way.
        guard isSigned || raw <= UInt64(Int64.max) else { return true }
        let value = isSigned ? Int64(bitPattern: raw << shift) >> Int64(shift) : Int64(raw)
        for allowed in ranges where !allowed.contains(where: { $0.contains(value) }) { return false }
        return bits.allSatisfy { $0.constant == $0.value(in: value) }
    }
}
