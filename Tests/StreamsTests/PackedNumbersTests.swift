import Streams
import TestSupport
import Testing

/// What is packed is unpacked again.
@Suite struct PackedNumbersTests {
    @Test func everyNumberIsUnpacked() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let base = Timestamp(nanoseconds: Int64.random(in: .min ... .max, using: &generator))
            let shift = Int.random(in: 0..<64, using: &generator)
            var before = Mixed(
                signed: Int.random(in: .min ... .max, using: &generator) >> shift,
                unsigned: UInt64.random(in: 0 ... .max, using: &generator) >> shift,
                short: UInt16.random(in: 0 ... .max, using: &generator), isSet: Bool.random(using: &generator),
                time: Timestamp(
                    nanoseconds: [.min, .max, 0, Int64.random(in: .min ... .max, using: &generator)].randomElement(
                        using: &generator) ?? 0),
                content: (0..<Int.random(in: 0..<300, using: &generator)).map { UInt8(truncatingIfNeeded: $0) })
            let expected = before
            var packed = PackedNumbers(near: base)
            for _ in 0..<3 { before.pass(through: &packed) }
            #expect(before == expected, "seed \(seed)")
            // Twice, the second time as a part of its own.
            var other = packed.other
            for _ in 0..<3 { before.pass(through: &other) }
            packed.append(other)
            var unpacked = packed.unpacking
            for round in 0..<6 {
                if round == 3 { unpacked.beginPart() }
                var after = Mixed()
                after.pass(through: &unpacked)
                #expect(after == expected, "seed \(seed)")
            }
        }
    }

    @Test func smallNumbersTakeOneByte() {
        var packed = PackedNumbers(near: Timestamp(nanoseconds: 5))
        for number in -64...63 {
            var number = number
            packed.pass(&number)
        }
        #expect(packed.byteCount == 128)
        // Eight flags, too.
        for place in 0..<9 {
            var flag = place % 2 == 0
            packed.pass(&flag)
        }
        #expect(packed.byteCount == 130)
    }

    private struct Mixed: Equatable {
        var signed = 0
        var unsigned: UInt64 = 0
        var short: UInt16 = 0
        var isSet = false
        var time = Timestamp(nanoseconds: 0)
        var content: [UInt8] = []

        mutating func pass(through numbers: inout PackedNumbers) {
            numbers.pass(&signed)
            numbers.pass(&unsigned)
            numbers.pass(&short)
            numbers.pass(&isSet)
            numbers.pass(&time)
            numbers.pass(&content)
        }
    }
}
