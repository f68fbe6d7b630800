import Framing
import Streams
import Testing

/// A reader of RESP that shares nothing with frametap's rules: it follows the nesting of values.
private struct RESPReader {
    let bytes: [UInt8]
    var at = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads one value with everything nested in it; returns its first byte.
    @discardableResult
    mutating func value() throws -> Character {
        let kind = Character(UnicodeScalar(bytes[at]))
        let line = try self.line()
        switch kind {
        case "+", "-", ":", "_", "#", ",", "(": break
        case "$", "=", "!":
            let count = try #require(Int(line))
            if count >= 0 {
                at += count
                try #require(bytes[at] == 13 && bytes[at + 1] == 10)
                at += 2
            }
        case "*", "~", ">": for _ in 0..<max(0, try #require(Int(line))) { try value() }
        case "%", "|":
            for _ in 0..<2 * (try #require(Int(line))) { try value() }
            // Attributes precede what they belong to.
            if kind == "|" { try value() }
        default: break
        }
        return kind
    }

    private mutating func line() throws -> String {
        let start = at + 1
        while !(bytes[at] == 13 && bytes[at + 1] == 10) { at += 1 }
        defer { at += 2 }
        return start <= at ? String(decoding: bytes[start..<at], as: UTF8.self) : ""
    }
}

@Suite struct RedisTests {
    /// Each command and each reply is one frame, however deeply it is nested.
    @Test(arguments: [("redis", 17, 2), ("resp3", 9, 14)])
    func framesAreTheValuesOfRESP(_ name: String, _ connections: Int, _ kinds: Int) throws {
        let example = Example(name: name, format: "redis")
        let format = try example.format()
        var seen = Set<Character>()
        let conversations = try example.conversations()
        #expect(conversations.count == connections)
        for chunks in conversations {
            let frames = SeenConversation(format, chunks)
            #expect(frames.unframed == [])
            for direction in Direction.allCases {
                let bytes = chunks.filter { $0.direction == direction }.flatMap(\.bytes)
                var reader = RESPReader(bytes)
                for frame in frames.frames[direction] {
                    // An empty line ends what redis-cli --pipe sends.
                    let start = reader.at
                    #expect(frame.offset == start)
                    let kind = try reader.value()
                    if direction == .fromServer { seen.insert(kind) }
                    #expect(frame.offset + frame.shape.total == reader.at, "\(kind) at \(start)")
                }
                #expect(reader.at == bytes.count)
            }
        }
        #expect(seen.count >= kinds, "\(seen)")
    }

    /// What people look for is in the type, and in conditions.
    @Test func commandsAreNamedByTheirFirstArgument() throws {
        let output = try Program.output(
            "frametap",
            ["decode", Example(name: "redis").capturePath, "--format", "example:redis", "--color", "never"]
                + ["--filter", "type == \"SET\" and fields.args[1] == \"greeting\""])
        let lines = output.text.split(separator: "\n").filter { $0.contains("→  SET") }
        #expect(lines.count == 1 && lines[0].contains("args=[\"SET\",\"greeting\",\"Hello, 世界\"]"), "\(output.text)")
    }
}
