import Streams

/// A number in a direction's frames that goes on by one, or by another step (`sequence` in a format file).
package struct SequenceRule: Sendable {
    /// Where the number is; frames without it do not count.
    package var place: ValuePlace
    /// Whose frames count; nil: each side's for themselves.
    package var from: Direction?
    /// By how much the number grows.
    package var step: Int64
    /// After how many values it begins again from 0; nil if it does not.
    package var modulus: Int64?

    /// The number that follows another one.
    package func next(after number: Int64) -> Int64 {
        let (next, overflow) = number.addingReportingOverflow(step)
        if overflow { return 0 }
        guard let modulus else { return next }
        let rest = next % modulus
        return rest < 0 ? rest + modulus : rest
    }

    /// How many numbers were left out between the expected one and the one found; nil if that went back.
    package func missing(from expected: Int64, to found: Int64) -> Int64? {
        guard step != 0 else { return nil }
        let (distance, overflow) = found.subtractingReportingOverflow(expected)
        if overflow { return nil }
        var (count, isTooMuch) = distance.dividedReportingOverflow(by: step)
        if isTooMuch { return nil }
        if let modulus, count < 0 { count += modulus / max(1, abs(step)) }
        // More than half of all values ahead is behind.
        if let modulus, count > modulus / (2 * max(1, abs(step))) { return nil }
        return count > 0 ? count : nil
    }
}
