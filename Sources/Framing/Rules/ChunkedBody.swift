import Streams

/// A body in chunks (RFC 9112 section 7.1): each has its size in hex digits on a line of its own, and a line end after it; the
/// last has size 0, and header lines may follow it.
struct ChunkedBody {
    /// The index of the next chunk's first byte.
    private(set) var at: Int
    /// How many bytes are needed to look again.
    private(set) var needed = 0

    /// The longest line of a chunk's size, extensions included.
    private static let longestLine = 4_096

    /// A body that begins at an index, or of which the chunks before it are known.
    init(at start: Int) { at = start }

    struct Fault: Error { var message: String }

    /// The index after the last chunk; nil if more bytes are needed.
    mutating func end(in bytes: RawSpan) -> Result<Int?, Fault> {
        while true {
            switch Self.chunk(in: bytes, at: at) {
            case .success(let chunk?):
                if chunk.range.isEmpty { return trailer(bytes, from: chunk.range.lowerBound) }
                guard chunk.next <= bytes.byteCount else {
                    needed = chunk.next
                    return .success(nil)
                }
                guard chunk.hasEnd else {
                    return .failure(Fault(message: "the chunk at byte \(at) is longer than it says"))
                }
                at = chunk.next
            case .success(nil): return .success(nil)
            case .failure(let fault): return .failure(fault)
            }
        }
    }

    /// The lines after the last chunk, up to an empty one.
    private func trailer(_ bytes: RawSpan, from start: Int) -> Result<Int?, Fault> {
        let lines = HeaderLines(ends: [[13, 10], [10]], separator: UInt8(ascii: ":"), hasSpace: true, most: 65_536)
        var searched = 0
        let end = lines.end(in: bytes, from: start, searched: &searched)
        if (end ?? bytes.byteCount) - start > lines.most {
            return .failure(Fault(message: "no end of the lines after the last chunk"))
        }
        return .success(end)
    }

    private struct Chunk {
        var range: Range<Int>
        /// After its line end.
        var next: Int
        var hasEnd: Bool
    }

    private static func chunk(in bytes: RawSpan, at start: Int) -> Result<Chunk?, Fault> {
        let known = bytes.extracting(0..<min(bytes.byteCount, start + longestLine))
        guard let line = known.firstEnd(of: [[13, 10], [10]], from: start) else {
            if bytes.byteCount - start >= longestLine { return .failure(Fault(message: "no size of a chunk")) }
            return .success(nil)
        }
        var size = 0
        var digits = 0
        for at in start..<line.lowerBound {
            guard let digit = hexDigit(bytes[byte: at]) else { break }
            digits += 1
            guard digits <= 8 else { return .failure(Fault(message: "a chunk of more than 4 GiB")) }
            size = size << 4 | Int(digit)
        }
        guard digits > 0 else {
            let found = WordLine.text(bytes.extracting(start..<line.lowerBound)).shortDescription
            return .failure(Fault(message: "the size of a chunk is \(found), expected hex digits"))
        }
        let range = line.upperBound..<line.upperBound + size
        let rest = bytes.extracting(min(range.upperBound, bytes.byteCount)..<min(range.upperBound + 2, bytes.byteCount))
        if rest.byteCount > 0, rest[byte: 0] == 10 {
            return .success(Chunk(range: range, next: range.upperBound + 1, hasEnd: true))
        }
        let hasEnd = rest.byteCount < 2 || rest[byte: 0] == 13 && rest[byte: 1] == 10
        return .success(Chunk(range: range, next: range.upperBound + 2, hasEnd: hasEnd))
    }

    /// What a whole body holds: its chunks' bytes together, and how they were written.
    struct Content {
        var content: [UInt8] = []
        var sizes: [Int] = []
        /// Everything else: the lines of sizes, the ends of lines, and what follows the last chunk.
        var frame: [UInt8] = []
    }

    /// The content of a whole body; nil if it is none.
    static func read(_ bytes: RawSpan) -> Content? {
        var content = Content()
        var at = 0
        while case .success(let chunk?) = chunk(in: bytes, at: at), chunk.range.upperBound <= bytes.byteCount {
            content.frame.append(contentsOf: bytes.extracting(at..<chunk.range.lowerBound))
            if chunk.range.isEmpty {
                content.frame.append(contentsOf: bytes.extracting(chunk.range.upperBound..<bytes.byteCount))
                return content
            }
            content.content.append(contentsOf: bytes.extracting(chunk.range))
            content.sizes.append(chunk.range.count)
            at = min(chunk.next, bytes.byteCount)
            content.frame.append(contentsOf: bytes.extracting(chunk.range.upperBound..<at))
        }
        return nil
    }

    /// The sizes of the chunks between whose bytes a frame was; nil if it is none, or not as `write` writes it.
    static func sizes(_ frame: [UInt8]) -> [Int]? {
        let bytes = frame.span.bytes
        var sizes: [Int] = []
        var at = 0
        while let end = bytes.firstRange(of: [13, 10], from: at) {
            let text = String(decoding: frame[at..<end], as: UTF8.self)
            guard let size = Int(text, radix: 16), String(size, radix: 16) == text, size >= 0 else { return nil }
            if size == 0 { return Array(frame[at...]) == Array("0\r\n\r\n".utf8) ? sizes : nil }
            guard end + 4 <= frame.count, frame[end + 2] == 13, frame[end + 3] == 10 else { return nil }
            sizes.append(size)
            at = end + 4
        }
        return nil
    }

    /// A body whose chunks were written this way; nil if they have other sizes together.
    static func write(_ content: [UInt8], between frame: [UInt8]) -> [UInt8]? {
        let bytes = frame.span.bytes
        var body: [UInt8] = []
        var (at, used) = (0, 0)
        while at < frame.count, let end = bytes.firstRange(of: [10], from: at) {
            var size = 0
            for digit in frame[at..<end].prefix(while: { hexDigit($0) != nil }).prefix(8) {
                size = size << 4 | Int(hexDigit(digit) ?? 0)
            }
            body += frame[at...end]
            if size == 0 { return used == content.count ? body + frame[(end + 1)...] : nil }
            guard used + size <= content.count, let next = bytes.firstRange(of: [10], from: end + 1) else { return nil }
            body += content[used..<used + size] + frame[(end + 1)...next]
            (at, used) = (next + 1, used + size)
        }
        return nil
    }

    /// A body in chunks of these sizes, which add up to it.
    static func write(_ content: [UInt8], sizes: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        var at = 0
        for size in sizes {
            bytes += Array(String(size, radix: 16).utf8) + [13, 10] + content[at..<at + size] + [13, 10]
            at += size
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }
}
