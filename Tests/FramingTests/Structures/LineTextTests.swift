import Testing

@testable import Framing

/// Lines in error texts.
@Suite struct LineTextTests {
    /// Reading only the beginning of a line gives the text of the whole one.
    @Test func aLongLineIsShownByItsBeginning() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let scalars: [Unicode.Scalar] = ["a", " ", "\u{7}", "ß", "日", "😀"]
        for _ in 0..<500 {
            // Lengths around the limits, and mostly wide or mostly narrow scalars.
            let used = scalars.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator))
            var text = ""
            for _ in 0..<Int.random(in: 0...200, using: &generator) {
                if let scalar = used.randomElement(using: &generator) { text.unicodeScalars.append(scalar) }
            }
            let bytes = Array(text.utf8)
            let shown = WordLine.shortDescription(bytes.span.bytes)
            #expect(shown == FieldValue.text(text).shortDescription, "seed \(seed): \(text)")
            #expect(shown.hasSuffix("…\"") == (text.unicodeScalars.count > 40), "seed \(seed): \(text)")
        }
    }

    @Test func aLineThatIsNoTextIsCounted() {
        let bytes = [UInt8](repeating: 0xbf, count: 1_000)
        #expect(WordLine.shortDescription(bytes.span.bytes) == "1000 bytes")
    }
}
