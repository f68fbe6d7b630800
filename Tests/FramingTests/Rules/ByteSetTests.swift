import Testing

@testable import Framing

/// Sets of bytes contain what they were made of.
@Suite struct ByteSetTests {
    @Test func theyContainWhatTheyWereMadeOf() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for count in 0...256 {
            let bytes = Set((UInt8.min...UInt8.max).shuffled(using: &generator).prefix(count))
            let set = ByteSet { bytes.contains($0) }
            for byte in UInt8.min...UInt8.max { #expect(set.contains(byte) == bytes.contains(byte), "seed \(seed)") }
            #expect(set.only == (count == 1 ? bytes.first : nil), "seed \(seed)")
        }
    }

    @Test func oneOfOneByteKnowsIt() {
        for byte in UInt8.min...UInt8.max { #expect(ByteSet { $0 == byte }.only == byte) }
    }
}
