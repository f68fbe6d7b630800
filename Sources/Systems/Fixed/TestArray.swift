/// The data that a test sends, part by part: `abcd` repeatedly, segmented in various ways.
package struct TestArray: Hashable, Sendable {
    /// What it demonstrates.
    package let name: String
    /// The parts, each a write of its own.
    package let parts: [[UInt8]]

    init(_ name: String, _ parts: String) {
        self.name = name
        self.parts = parts.split(separator: "|").map { Array($0.utf8) }
    }

    /// Where the parts end.
    var cuts: [Int] { parts.reduce(into: []) { $0.append(($0.last ?? 0) + $1.count) } }

    /// All bytes that belong to whole frames: the expected echo.
    package var echo: [UInt8] {
        let all = parts.flatMap { $0 }
        return Array(all[..<(all.count - all.count % 4)])
    }

    /// One frame per part.
    package static let whole = TestArray("whole", "abcd|abcd|abcd|abcd|abcd")
    /// Several frames per part.
    package static let merged = TestArray("merged", "abcd|abcdabcd|abcdabcdabcd|abcdabcd")
    /// Several parts per frame.
    package static let split = TestArray("split", "a|bcd|ab|cd|abc|d|abcd")
    /// Both, with two bytes left over.
    package static let mixed = TestArray("mixed", "abc|da|bcdabcd|abcdabcd|abcdabcdab")

    /// The four arrays of `connect`. The published ones are known only by what they test; the last one's segmentation is the
    /// published one.
    package static let all = [whole, merged, split, mixed]

    /// Four bytes each, but not four characters: only a receiver that counts characters mishandles them.
    package static let beyondASCII = TestArray("beyond ASCII", "abcd|设x|abcd")
}
