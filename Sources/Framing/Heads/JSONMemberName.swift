import Streams

/// The name of a member that is looked for in many heads: its bytes are at hand.
package struct JSONMemberName: Sendable, Hashable {
    /// The name.
    let text: String
    private let bytes: [UInt8]

    /// A name.
    package init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
    }

    /// Whether a key is this name.
    @inline(__always)
    func isKey(_ key: JSONScanner.Key, in head: RawSpan) -> Bool {
        if key.isEscaped { return JSONText.string(key, in: head) == text }
        // Without the quotes.
        guard key.range.count &- 2 == bytes.count else { return false }
        for index in bytes.indices where bytes[index] != head[byte: key.range.lowerBound &+ 1 &+ index] { return false }
        return true
    }
}
