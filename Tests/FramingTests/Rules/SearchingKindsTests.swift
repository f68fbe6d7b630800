import Framing
import Streams
import Testing

/// Kinds of frames, and readings, that search for their ends: each searches for its own, whatever was searched for others.
@Suite struct SearchingKindsTests {
    /// Kinds that differ in what ends them.
    private static let formats = [
        // The same header, another delimiter, another limit.
        """
        format: kinds
        oneOf:
          - name: short
            header: [{ sign: { type: char, equals: "A" } }]
            framing: { rule: delimiter, end: "\\n", limit: 100 B }
          - name: long
            header: [{ sign: { type: char, equals: "A" } }]
            framing: { rule: delimiter, end: "\\r", limit: 1000 B }
        """,
        // A JSON head with a body, or a line.
        """
        format: mix
        oneOf:
          - name: sized
            framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size }
          - name: line
            framing: { rule: delimiter, end: "\\n" }
        """,
        // Two heads that end differently.
        """
        format: heads
        oneOf:
          - name: unix
            framing: { rule: head-and-body, head: json, ends: "\\n", size: size }
          - name: dos
            framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: count }
        """,
        // A sequence of objects, or escaped frames.
        """
        format: objects
        oneOf:
          - name: object
            framing: { rule: json-sequence, limit: 64 B }
          - name: escaped
            framing: { rule: escaped, start: 0x7b, end: 0x0a, escape: 0x5c, limit: 200 B }
          - name: marked
            framing: { rule: delimiter, end: ";" }
        """,
    ]

    private func rule(_ yaml: String) throws -> any FramingRule {
        try FormatLoader.load(yaml, file: "x").directions.fromClient.rule
    }

    @Test func eachKindSearchesForItsOwnEnd() throws {
        let (kinds, mix, heads) = (Self.formats[0], Self.formats[1], Self.formats[2])
        let cases: [(String, String, [Int])] = [
            // The first kind's delimiter is beyond its limit, the second one's is not.
            (kinds, "A\(String(repeating: "x", count: 50))\rA\(String(repeating: "y", count: 100))\n", [52]),
            (kinds, "A\(String(repeating: "y", count: 150))A\r", [153]),
            (mix, "{\"a\":1}\n{\"size\":\"2\"}\r\nab", [8, 16]),
            (heads, "{\"count\":\"5\"}\r\nHello{\"size\":\"2\"}\nab", [20, 15]),
        ]
        for (yaml, text, lengths) in cases {
            let bytes = Array(text.utf8)
            let (log, _) = frame([.bytes(bytes)], with: try rule(yaml))
            #expect(log.frames.map(\.shape.total) == lengths, "\(text.debugDescription): \(log.results)")
            expectCuttingDoesNotMatter(bytes, rule: try rule(yaml))
        }
    }

    @Test(arguments: formats.indices) func cuttingDoesNotMatterToKindsThatSearch(index: Int) throws {
        let rule = try rule(Self.formats[index])
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "A", "Axx\n", "Axxx\r", "{\"size\":\"2\"}", "{\"count\":3}", "{\"a\":[1,{}]}", "\r\n", "\n", "ab", "{", "}",
            "\\", ";",
            String(repeating: "y", count: 70), "{\"size\":",
        ]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 2...12, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }
            let bytes = Array(text.joined().utf8)
            expectCuttingDoesNotMatter(bytes, rule: rule, seed: seed, everyPosition: false)
        }
    }

    /// What was searched is not searched again for each chunk, whichever kind it is.
    @Test func aLongFrameOfALaterKindIsSearchedOnce() throws {
        let rule = try rule(Self.formats[1].replacing("end: \"\\n\" }", with: "end: \"\\n\", limit: 8 MiB }"))
        let (log, scratch) = (FramedLog(), FramingScratch())
        var framer = Framer(rule: rule, direction: .fromClient, aligned: true)
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 100)
        // Searched again for each of them, they would be 100 GB.
        for _ in 0..<40_000 {
            framer.receive(chunk.span.bytes, at: Timestamp(nanoseconds: 1), packet: 1, scratch: scratch, into: log)
        }
        let end: [UInt8] = [10]
        framer.receive(end.span.bytes, at: Timestamp(nanoseconds: 2), packet: 2, scratch: scratch, into: log)
        #expect(log.frames.map(\.shape.total) == [4_000_001])
    }

    /// Readings are decided by the first bytes, so that nothing is read again for each chunk for ever.
    @Test func readingsAreDecidedByTheFirst64KiB() throws {
        let yaml = """
            format: either
            alternatives:
              - name: lines
                framing: { rule: delimiter, end: "\\n", limit: 8 MiB }
              - name: records
                framing: { rule: delimiter, end: ";", limit: 8 MiB }
            """
        let rule = try rule(yaml)
        let long = String(repeating: "x", count: 70_000)
        let cases: [(String, Int)] = [
            // One is followed by another head: decided.
            ("abc;def\nghi\n", 8), ("abc\ndef\n;", 4),
            // Neither ends within the first 64 KiB: the first is taken.
            ("\(long);\(long)\n", 140_002),
            // Only one does.
            ("abc;\(long);", 4),
        ]
        for (text, first) in cases {
            let bytes = Array(text.utf8)
            let (log, _) = frame([.bytes(bytes)], with: rule)
            #expect(log.frames.first?.shape.total == first, "\(text.prefix(20)): \(log.frames.map(\.shape.total))")
            let (cutLog, _) = frame(cut(bytes, at: Array(stride(from: 1_000, to: bytes.count, by: 1_000))), with: rule)
            #expect(cutLog.results == log.results)
        }
        let (log, scratch) = (FramedLog(), FramingScratch())
        var framer = Framer(rule: rule, direction: .fromClient, aligned: true)
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 100)
        for _ in 0..<40_000 {
            framer.receive(chunk.span.bytes, at: Timestamp(nanoseconds: 1), packet: 1, scratch: scratch, into: log)
        }
        #expect(framer.heldBytes == 4_000_000)
    }

    /// What an opening has searched for is not what the frames after it end with.
    @Test func anOpeningSearchesForItsOwnEnd() throws {
        let rule = try rule(
            """
            format: x
            first: { header: [], framing: { rule: escaped, start: 0x02, end: 0x03, escape: 0x10, limit: 64 B } }
            framing: { rule: delimiter, end: "\\n" }
            """)
        let lines = (0..<40).map { "this is line \($0)\n" }.joined()
        let (log, _) = frame([.bytes([2] + Array(lines.utf8))], with: rule)
        #expect(log.frames.count > 30 && log.frames.dropFirst().allSatisfy { $0.shape.total < 20 }, "\(log.results)")
        expectCuttingDoesNotMatter([2] + Array(lines.utf8), rule: rule)
    }

    /// Flags that start frames, one after the other, beyond the limit: none of them has an end before the others.
    @Test func startFlagsBeyondTheLimitAreNotSearchedAgain() throws {
        let rule = try rule("format: x\nframing: { rule: escaped, start: 0x02, end: 0x03, escape: 0x10, limit: 4 MiB }")
        let flags = [UInt8](repeating: 2, count: (4 << 20) + (1 << 15))
        // Searched again for each flag beyond the limit, they would be 128 GB.
        let (log, counts) = frame([.bytes(flags), .bytes([3, 2, 65, 3])], with: rule)
        #expect(log.frames.map(\.shape.total) == [4 << 20, 3], "\(log.frames.map(\.shape.total)) \(counts)")
    }
}
