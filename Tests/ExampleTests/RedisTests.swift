import Framing
import Streams
import Testing

/// A reader of RESP2 that shares nothing with frametap's rules: it follows the nesting of arrays.
private struct RESPReader {
    let bytes: [UInt8]
    var at = 0
    /// The first byte and the extent of every element, in order.
    var elements: [(kind: Character, range: Range<Int>)] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads one value with everything nested in it.
    mutating func value() throws {
        let start = at
        let kind = Character(UnicodeScalar(bytes[at]))
        if kind == "\r" {
            // A blank line, which redis-cli sends at the end of --pipe.
            try #require(bytes[at + 1] == 10)
            at += 2
            elements.append((kind, start..<at))
            return
        }
        let line = try self.line()
        switch kind {
        case "+", "-", ":": elements.append((kind, start..<at))
        case "$":
            let count = try #require(Int(line))
            if count >= 0 {
                at += count
                try #require(bytes[at] == 13 && bytes[at + 1] == 10)
                at += 2
            }
            elements.append((kind, start..<at))
        case "*":
            elements.append((kind, start..<at))
            for _ in 0..<max(0, try #require(Int(line))) { try value() }
        default: Issue.record("\(kind) at \(start) is no RESP2")
        }
    }

    private mutating func line() throws -> String {
        let start = at + 1
        while !(bytes[at] == 13 && bytes[at + 1] == 10) { at += 1 }
        defer { at += 2 }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }
}

@Suite struct RedisTests {
    @Test func framesAreTheElementsOfRESP() throws {
        let example = Example(name: "redis")
        let format = try example.format()
        let names: [Character: String] = [
            "+": "string", "-": "error", ":": "integer", "$": "bulk", "*": "array", "\r": "blank",
        ]
        var kinds: [Character: Int] = [:]
        var nulls = 0
        for (direction, bytes) in try example.streams() {
            var reader = RESPReader(bytes)
            while reader.at < bytes.count { try reader.value() }
            let side = format.directions[direction]
            let frames = SeenFrames(bytes, side.rule).frames
            #expect(frames.map { $0.offset..<$0.offset + $0.shape.total } == reader.elements.map(\.range))
            for (frame, element) in zip(frames, reader.elements) {
                #expect(side.type(of: frame.bytes.span.bytes, frame.shape) == names[element.kind])
                kinds[element.kind, default: 0] += 1
                if frame.bytes == Array("$-1\r\n".utf8) { nulls += 1 }
            }
        }
        #expect(kinds.count == 6 && nulls > 1, "\(kinds), \(nulls) nulls")
    }
}
