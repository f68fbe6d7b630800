import Streams

/// Cuts text that arrives in pieces into numbered lines; holds at most one incomplete line of bounded length.
struct LineBuffer: Sendable {
    /// A line without its line ending, CR LF or LF.
    struct Line {
        let number: Int
        /// Nil if the line is longer than the limit.
        let bytes: [UInt8]?
    }

    private let limit: Int
    private var held: [UInt8] = []
    private var isTooLong = false
    private var number = 1

    /// How many bytes of an incomplete line are kept.
    var heldBytes: Int { held.count }

    init(limit: Int) {
        self.limit = limit
    }

    /// The next complete line of `text` from `at`, which moves past it. Nil at the end: the rest is held.
    mutating func next(_ text: RawSpan, _ at: inout Int) -> Line? {
        var end = at
        while end < text.byteCount, text[byte: end] != UInt8(ascii: "\n") { end += 1 }
        hold(text, at..<end)
        guard end < text.byteCount else {
            at = end
            return nil
        }
        at = end + 1
        return takeLine()
    }

    /// The line that has not ended; nil if it is empty.
    mutating func takeLast() -> Line? {
        held.isEmpty && !isTooLong ? nil : takeLine()
    }

    private mutating func hold(_ text: RawSpan, _ range: Range<Int>) {
        // One more for the CR, which does not count.
        if isTooLong || held.count + range.count > limit + 1 {
            isTooLong = true
            held = []
        } else {
            held.append(contentsOf: text.extracting(range))
        }
    }

    private mutating func takeLine() -> Line {
        defer {
            held.removeAll(keepingCapacity: true)
            isTooLong = false
            number += 1
        }
        if held.last == UInt8(ascii: "\r") { held.removeLast() }
        return Line(number: number, bytes: isTooLong || held.count > limit ? nil : held)
    }
}
