import Streams
import Testing

@testable import Framing

/// What a search remembers of a body's end is what it would find again.
@Suite struct KnownEndsTests {
    @Test(arguments: [["\0"], ["\r\n", "\n"], ["--end", "d"], ["\n\n"]]) func itFindsWhatIsThere(texts: [String]) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let ends = texts.map { Array($0.utf8) }
        let letters = Array("ab-end\r\n\0".utf8)
        var (found, reused) = (0, 0)
        for _ in 0..<400 {
            let stream = (0..<200).map { _ in letters.randomElement(using: &generator) ?? 0 }
            var known: KnownEnds?
            var place = 0
            while place < stream.count - 20 {
                place += Int.random(in: 0...6, using: &generator)
                // As much as a search looks at: of a frame that begins at `place`, or before it.
                let origin = max(0, place - Int.random(in: 0...5, using: &generator))
                let end = min(stream.count, max(place, origin) + Int.random(in: 0...60, using: &generator))
                let window = Array(stream[origin..<end])
                let expected = window.span.bytes.firstEnd(of: ends, from: place - origin)
                if known?.covers(ends, from: place) == true {
                    reused += 1
                } else {
                    known = KnownEnds(ends, from: place)
                }
                let actual = known?.first(in: window.span.bytes, from: place - origin, origin: origin)
                #expect(actual == expected, "\(place) of \(stream), up to \(end), seed \(seed)")
                if actual != nil { found += 1 }
            }
        }
        #expect(found > 1_000 && reused > 1_000, "\(found) found, \(reused) from what was known")
    }

    @Test func otherEndsAreOthers() {
        let known = KnownEnds([[0]], from: 5)
        #expect(known.covers([[0]], from: 5))
        #expect(!known.covers([[1]], from: 5))
        #expect(!known.covers([[0]], from: 4))
        #expect(!known.covers([[0]], from: 6))
    }
}
