import Streams
import Testing

@testable import Packets

/// Times of packets with `if_tsresol` and `if_tsoffset`.
@Suite struct TimeResolutionTests {
    /// A count that underflowed is before 1970, with an offset, too.
    @Test(arguments: [6, 9] as [UInt8]) func countsBefore1970(_ exponent: UInt8) {
        let unit: Int64 = exponent == 6 ? 1_000 : 1
        for offset in [Int64(0), 10, -10, 1_700_000_000] {
            let resolution = TimeResolution(option: exponent, offset: offset)
            #expect(resolution.instant(.max) == Timestamp(nanoseconds: offset * 1_000_000_000 - unit))
            #expect(resolution.instant(5) == Timestamp(nanoseconds: offset * 1_000_000_000 + 5 * unit))
        }
    }

    /// What does not fit is as far away as can be said.
    @Test func timesThatDoNotFit() {
        for (offset, time) in [(Int64.max, Int64.max), (.min, .min), (9_000_000_000, .max), (-10_000_000_000, .min)] {
            let later = TimeResolution(option: 9, offset: offset)
            let units: UInt64 = offset > 0 ? 1 << 62 : .max
            #expect(later.instant(units) == Timestamp(nanoseconds: time), "\(offset)")
        }
        // The offset alone does not fit, the sum does.
        let sum = TimeResolution(option: 9, offset: -10_000_000_000).instant(UInt64(Int64.max))
        #expect(sum == Timestamp(seconds: -10_000_000_000 + Int64.max / 1_000_000_000, nanoseconds: 854_775_807))
    }
}
