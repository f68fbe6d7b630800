import Streams

/// How an interface counts time: the options `if_tsresol` and `if_tsoffset` of pcapng.
///
/// Source: draft-ietf-opsawg-pcapng, section 4.2.
struct TimeResolution: Hashable, Sendable {
    /// Nanoseconds per unit, if that is a whole number.
    private var nanosecondsPerUnit: Int64
    /// The exponent of a unit that is binary or shorter than a nanosecond; 0 if `nanosecondsPerUnit` applies.
    private var exponent: UInt8
    private var isBinary: Bool
    /// Seconds to add.
    var offset: Int64

    /// Microseconds since 1970.
    init() {
        (nanosecondsPerUnit, exponent, isBinary, offset) = (1000, 0, false, 0)
    }

    /// The resolution of `if_tsresol`: 10 to the power of minus n, or 2 to the power of minus n with the highest bit set.
    init(option: UInt8, offset: Int64) {
        self.offset = offset
        isBinary = option & 0x80 != 0
        exponent = option & 0x7f
        nanosecondsPerUnit = 0
        if !isBinary, exponent <= 9 {
            nanosecondsPerUnit = TimeResolution.powerOfTen(9 - exponent) ?? 0
        }
    }

    /// The instant `units` after 1970; clamped to 64 bits of nanoseconds.
    ///
    /// With the highest bit set, microseconds or nanoseconds are before 1970: a time that underflowed a smaller counter would
    /// otherwise be in the year 586,000, and all packets after it in its past.
    @inline(__always)
    func instant(_ units: UInt64) -> Timestamp {
        if nanosecondsPerUnit != 0 {
            let (product, overflow) = Int64(bitPattern: units).multipliedReportingOverflow(by: nanosecondsPerUnit)
            if !overflow { return offset == 0 ? Timestamp(nanoseconds: product) : moved(product, units) }
        }
        return slowInstant(units)
    }

    /// An instant moved by the offset.
    ///
    /// - Parameters:
    ///   - nanoseconds: the instant, in nanoseconds since 1970.
    ///   - units: the same as it was counted.
    private func moved(_ nanoseconds: Int64, _ units: UInt64) -> Timestamp {
        let shift = offset.multipliedReportingOverflow(by: 1_000_000_000)
        let sum = nanoseconds.addingReportingOverflow(shift.partialValue)
        if !shift.overflow, !sum.overflow { return Timestamp(nanoseconds: sum.partialValue) }
        return nanoseconds < 0 ? Timestamp(nanoseconds: offset < 0 ? .min : .max) : slowInstant(units)
    }

    private func slowInstant(_ units: UInt64) -> Timestamp {
        let seconds: UInt64
        let nanoseconds: UInt64
        if nanosecondsPerUnit != 0 {
            let unitsPerSecond = UInt64(1_000_000_000 / nanosecondsPerUnit)
            (seconds, nanoseconds) = (units / unitsPerSecond, units % unitsPerSecond * UInt64(nanosecondsPerUnit))
        } else if isBinary {
            // Shifts beyond the width yield 0, as they should: 2 to the power of -64 s times 64 bits is less than a second.
            seconds = units >> UInt64(exponent)
            let fraction = units & (exponent >= 64 ? .max : (1 << UInt64(exponent)) &- 1)
            let scaled = fraction.multipliedFullWidth(by: 1_000_000_000)
            nanoseconds =
                exponent == 0
                ? 0
                : exponent < 64
                    ? scaled.high << UInt64(64 - exponent) | scaled.low >> UInt64(exponent)
                    : scaled.high >> UInt64(exponent - 64)
        } else {
            let total = TimeResolution.powerOfTen(exponent - 9).map { units / UInt64($0) } ?? 0
            (seconds, nanoseconds) = (total / 1_000_000_000, total % 1_000_000_000)
        }
        let whole = Int64(clamping: seconds).addingReportingOverflow(offset)
        let clamped = whole.overflow ? (offset < 0 ? Int64.min : .max) : whole.partialValue
        return Timestamp(seconds: clamped, nanoseconds: Int64(clamping: nanoseconds))
    }

    private static func powerOfTen(_ exponent: UInt8) -> Int64? {
        guard exponent <= 18 else { return nil }
        return (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
}

extension TimeResolution {
    /// The count that stands for an instant; nil if none does exactly.
    func units(of instant: Timestamp) -> UInt64? {
        guard nanosecondsPerUnit != 0, offset == 0 else { return nil }
        let units = UInt64(bitPattern: instant.nanoseconds / nanosecondsPerUnit)
        return self.instant(units) == instant ? units : nil
    }
}
