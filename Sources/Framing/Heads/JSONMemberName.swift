import Streams

/// The name of a member that is looked for in many heads: its bytes are at hand.
package struct JSONMemberName: Sendable, Hashable {
    /// The name.
    let text: String
    private let bytes: [UInt8]
    /// The first eight bytes, least significant first, and which bits of a word they are.
    private let (first, mask): (UInt64, UInt64)

    /// A name.
    package init(_ text: String) {
        self.text = text
        bytes = Array(text.utf8)
        first = bytes.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.element) << (8 * UInt64($1.offset)) }
        mask = bytes.count < 8 ? 1 << (8 * UInt64(bytes.count)) - 1 : .max
    }

    /// Whether a key is this name.
    @inline(__always)
    func isKey(_ key: JSONScanner.Key, in head: RawSpan) -> Bool {
        if key.isEscaped { return JSONText.string(key, in: head) == text }
        // Without the quotes.
        guard key.range.count &- 2 == bytes.count else { return false }
        let start = key.range.lowerBound &+ 1
        if start &+ 8 <= head.byteCount {
            let word = head.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self).littleEndian
            guard word & mask == first else { return false }
            if bytes.count <= 8 { return true }
        }
        return bytes.span.bytes.elementsEqual(head.extracting(start..<start &+ bytes.count))
    }
}
