import Platform
import Streams
import Testing

@testable import Framing

/// The evidence of values that have names: found in lists of numbers, as the names themselves say.
@Suite struct NamedValuesTests {
    @Test func everyNameIsFound() {
        var kind = HeaderField(name: "kind", kind: .unsigned(width: 1))
        kind.names = [.integer(3): "three", .integer(200): "more", .integer(-1): "never"]
        var flags = HeaderField(name: "flags", kind: .unsigned(width: 1))
        flags.bits = [
            HeaderField.Bits(name: "low", lowest: 0, count: 2, names: [.integer(1): "one", .integer(3): "three"]),
            HeaderField.Bits(name: "plain", lowest: 2, count: 1),
            HeaderField.Bits(name: "high", lowest: 5, count: 3, names: [.integer(4): "four"]),
        ]
        var wide = HeaderField(name: "wide", kind: .unsigned(width: 2), order: .little)
        wide.names = [.integer(513): "x", .integer(40_000): "y"]
        for field in [kind, flags, wide] {
            let head = BinaryHead([field])
            let width = field.fixedSize ?? 0
            for number in 1..<(1 << (8 * width))
            where width == 1 || number % 7 == 2 || number == 513 || number == 40_000 {
                let bytes = (0..<width).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
                let background = ByteBackground(of: bytes.span.bytes)
                let bits = bytes.reduce(0.0) { $0 + background.numberBits($1) }
                let value = FieldValue.integer(Int64(number))
                var expected = 0.0
                if !field.names.isEmpty {
                    expected += Evidence.named(field.names[value] != nil, of: field.names.count, bits: bits)
                }
                for part in field.bits where !part.names.isEmpty {
                    let isNamed = part.names[.integer(part.value(in: Int64(number)))] != nil
                    expected += Evidence.named(isNamed, of: part.names.count, bits: min(Double(part.count), bits))
                }
                let evidence = head.evidence(
                    in: bytes.span.bytes, at: 0, lengthField: nil, previous: nil, background)
                #expect(evidence.values == expected, "\(number) of \(field.name)")
            }
        }
    }

    @Test(arguments: [8, 16, 32]) func shortLengthsAreAsLongOnes(width: Int) {
        for length in [0, 1, 2, 100, 4_095, 4_096, 70_000] as [UInt64] {
            let expected = -log2(Double(length) + 1) - log2(0.693 * Double(width))
            #expect(Evidence.length(length, width: width) == expected, "\(length)")
        }
    }
}
