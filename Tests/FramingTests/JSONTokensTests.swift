import Streams
import Testing

@testable import Framing

/// JSON text token by token: containers within containers.
@Suite struct JSONTokensTests {
    private func accepts(_ text: String) -> Bool {
        var tokens = JSONTokens()
        let bytes = Array(text.utf8)
        do throws(JSONSyntaxError) {
            while try tokens.next(bytes.span.bytes) != nil {}
            return true
        } catch {
            return false
        }
    }

    /// Each container ends as it began, however deep it is: those beyond 64 levels are kept elsewhere.
    @Test func containersEndAsTheyBegan() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let depth = Int.random(in: 1...140, using: &generator)
            let objects = (0..<depth).map { _ in Bool.random(using: &generator) }
            let beginning = objects.map { $0 ? #"{"a":"# : "[" }.joined()
            let ends = objects.reversed().map { $0 ? "}" : "]" }
            #expect(accepts(beginning + "1" + ends.joined()), "seed \(seed)")
            var wrong = ends
            let place = Int.random(in: 0..<depth, using: &generator)
            wrong[place] = wrong[place] == "}" ? "]" : "}"
            #expect(!accepts(beginning + "1" + wrong.joined()), "seed \(seed), depth \(depth), end \(place)")
            #expect(!accepts(beginning + "1" + ends.dropLast().joined()), "seed \(seed)")
        }
        let (most, more) = (JSONTokens.depthLimit, JSONTokens.depthLimit + 1)
        #expect(accepts(String(repeating: "[", count: most) + String(repeating: "]", count: most)))
        #expect(!accepts(String(repeating: "[", count: more) + String(repeating: "]", count: more)))
    }
}
