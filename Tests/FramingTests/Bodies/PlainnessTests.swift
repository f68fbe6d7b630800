import Streams
import Testing

@testable import Framing

/// How plain a text is, decided eight bytes at a time, is what looking at each byte finds.
@Suite struct PlainnessTests {
    private func expected(_ bytes: [UInt8]) -> Plainness {
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7f }) { return .none }
        guard String(validating: bytes, as: UTF8.self) != nil else { return .none }
        return bytes.allSatisfy { $0 < 0x80 && $0 != 0x22 && $0 != 0x5c } ? .verbatim : .text
    }

    @Test func everyByteAtEveryPlace() {
        for count in 1...19 {
            for place in 0..<count {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
                    bytes[place] = byte
                    #expect(bytes.span.bytes.plainness == expected(bytes), "\(bytes)")
                }
            }
        }
        let none: [UInt8] = []
        #expect(none.span.bytes.plainness == .verbatim)
    }

    @Test func mixedBytes() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let pieces = ["a", "plain text", "\"", "\\", "\n", "\u{7f}", "ü", "日本", "\u{85}", "~ ", "\u{0}"].map {
            Array($0.utf8)
        }
        for _ in 0..<20_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...8, using: &generator) {
                let plain = Int.random(in: 0...1, using: &generator) == 0
                bytes += plain ? pieces[1] : pieces.randomElement(using: &generator) ?? []
            }
            if Int.random(in: 0...9, using: &generator) == 0 {
                bytes.append(.random(in: 0x80...0xff, using: &generator))
            }
            #expect(bytes.span.bytes.plainness == expected(bytes), "seed \(seed), \(bytes)")
        }
    }
}
