import Streams
import Testing

@testable import Framing

/// The empty line after header lines is where a search would find it again.
@Suite struct KnownLinesTests {
    @Test(arguments: [["\n"], ["\r\n", "\n"], ["\r\n"]]) func theEmptyLineIsTheSame(ends: [String]) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let lines = HeaderLines(
            ends: ends.map { Array($0.utf8) }, separator: UInt8(ascii: ":"), hasSpace: true, most: 1_000)
        let pieces = ["a:b", "x", "\n", "\r\n", "\r", "\n", "\r\n"]
        var found = 0
        for _ in 0..<600 {
            var stream: [UInt8] = []
            while stream.count < 120 { stream += Array((pieces.randomElement(using: &generator) ?? "").utf8) }
            var known = KnownLines()
            var place = 0
            while place < stream.count {
                // As much as a search looks at: of a frame that begins before the lines.
                let base = max(0, place - Int.random(in: 0...9, using: &generator))
                let end = min(stream.count, place + Int.random(in: 0...90, using: &generator))
                let window = Array(stream[base..<end])
                var searched = 0
                let expected = lines.end(in: window.span.bytes, from: place - base, searched: &searched)
                let actual = known.end(of: lines, in: window.span.bytes, from: place - base, base: base)
                #expect(actual == expected, "\(place) of \(stream), up to \(end), seed \(seed)")
                if actual != nil { found += 1 }
                place += Int.random(in: 0...4, using: &generator)
            }
        }
        #expect(found > 1_000, "\(found)")
    }
}
