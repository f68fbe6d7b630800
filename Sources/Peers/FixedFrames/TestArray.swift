/// What a test sends, part by part: `abcd` repeatedly, in various cuts.
package struct TestArray: Hashable, Sendable {
    /// What it shows.
    package let name: String
    /// The parts, each a write of its own.
    package let parts: [[UInt8]]

    init(_ name: String, _ parts: String) {
        self.name = name
        self.parts = parts.split(separator: "|").map { Array($0.utf8) }
    }

    /// All bytes that belong to whole frames: what an echo brings back.
    package var echo: [UInt8] {
        let all = parts.flatMap { $0 }
        return Array(all[..<(all.count - all.count % 4)])
    }

    /// One frame to a part.
    package static let whole = TestArray("whole", "abcd|abcd|abcd|abcd|abcd")
    /// Several frames to a part.
    package static let merged = TestArray("merged", "abcd|abcdabcd|abcdabcdabcd|abcdabcd")
    /// Several parts to a frame.
    package static let split = TestArray("split", "a|bcd|ab|cd|abc|d|abcd")
    /// Both, and two bytes left over.
    package static let mixed = TestArray("mixed", "abc|da|bcdabcd|abcdabcd|abcdabcdab")

    /// The four of `connect`. The published ones are known only by what they test; the last one's cuts are the
    /// published ones.
    package static let all = [whole, merged, split, mixed]

    /// Four bytes each, but not four characters: only a receiver that counts characters has trouble with them.
    package static let beyondASCII = TestArray("beyond ASCII", "abcd|设x|abcd")
}
