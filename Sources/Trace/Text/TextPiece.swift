import Framing
import Streams

/// A piece of a line: bytes safe for a terminal, and how many columns they take.
struct TextPiece {
    private(set) var bytes: [UInt8] = []
    private(set) var width = 0

    /// Nothing.
    init() {}

    /// A printable text.
    init(_ text: String) { put(text) }

    var isEmpty: Bool { bytes.isEmpty }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        width = 0
    }

    /// Adds a printable text.
    mutating func put(_ text: String) {
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        width +=
            bytes.span.bytes.extracting(start..<bytes.count).isPrintableASCII
            ? bytes.count - start : DisplayWidth.of(text)
    }

    /// Adds a text that takes this many columns.
    mutating func put(_ text: StaticString, columns: Int) {
        text.withUTF8Buffer { bytes.append(copying: UnsafeRawBufferPointer($0)) }
        width += columns
    }

    /// Adds ASCII.
    mutating func put(ascii text: StaticString) {
        text.withUTF8Buffer { bytes.append(copying: UnsafeRawBufferPointer($0)) }
        width += text.utf8CodeUnitCount
    }

    /// Adds two hex digits.
    mutating func put(hex byte: UInt8) {
        JSONOutput.hex(byte, into: &bytes)
        width += 2
    }

    /// Adds text from the network, which is valid UTF-8, made safe for a terminal and truncated to a number of columns.
    mutating func put(printable text: RawSpan, columns: Int) {
        // Whether it must be truncated depends on one character after those that fit: with it, nothing else fits.
        if columns > 0, text.extracting(0..<(text.byteCount <= columns ? text.byteCount : columns + 1)).isPrintableASCII
        {
            let fitting = text.byteCount <= columns ? text : text.extracting(0..<columns - 1)
            bytes.append(contentsOf: fitting)
            width += fitting.byteCount
            if fitting.byteCount < text.byteCount { put("…", columns: 1) }
        } else {
            put(PrintableText.of(text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }, columns: columns))
        }
    }
}
