import Streams
import Testing

@testable import Framing

/// The constants of a header are the same for those who ask whether they are right, and for those who ask what is wrong.
@Suite struct HeaderConstantTests {
    @Test func whatScansHasItsConstants() {
        var kind = HeaderField(name: "kind", kind: .unsigned(width: 1))
        kind.allowed = [AllowedValues(low: .integer(1), high: .integer(2))]
        var flags = HeaderField(name: "flags", kind: .unsigned(width: 2), order: .little)
        flags.bits = [HeaderField.Bits(name: "version", lowest: 8, count: 2, constant: 1)]
        let digits = HeaderField(name: "digits", kind: .numeral(.digits(count: 2, base: 10)))
        var mark = HeaderField(name: "mark", kind: .unsigned(width: 1))
        mark.constant = .integer(1)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let alphabet: [UInt8] = [0, 1, 2, 0x30, 0x39, 0x61]
        var right = 0
        for fields in [[kind, mark], [flags, mark], [digits, mark], [kind, flags, digits, mark]] {
            let head = BinaryHead(fields)
            for _ in 0..<500 {
                let count = head.fixedLength ?? 0
                let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
                var isComplete = false
                if case .complete = head.scan(bytes.span.bytes, at: 0) { isComplete = true }
                #expect(head.hasItsConstants(bytes.span.bytes) == isComplete, "\(bytes), seed \(seed)")
                if isComplete { right += 1 }
            }
        }
        #expect(right > 20, "seed \(seed)")
    }
}
