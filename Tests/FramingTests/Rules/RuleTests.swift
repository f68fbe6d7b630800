import Framing
import Streams
import Testing

/// Requirements on every rule, whatever the bytes: account for each, and do not depend on segmentation.
@Suite struct RuleTests {
    /// Formats of one rule each, with the bytes used to build hostile streams for it.
    static let formats: [(yaml: String, alphabet: [UInt8])] = [
        ("framing: { rule: delimiter, end: [\"\\r\\n\", \"\\n\"], limit: 64 B }", Array("ab\r\n".utf8)),
        ("framing: { rule: delimiter, end: abca, limit: 200 B }", Array("abc".utf8)),
        ("framing: { rule: fixed, size: 4 }", Array("abcd".utf8)),
        ("header: [{ m: { type: u8, equals: 97 } }]\nframing: { rule: fixed, size: 4 }", Array("abcd".utf8)),
        ("framing: { rule: marker, start: ab, idle: none, limit: 100 B }", Array("abc".utf8)),
        ("framing: { rule: marker, start: aab, idle: none, limit: 100 B }", Array("ab".utf8)),
        ("framing: { rule: json-sequence, limit: 100 B }", Array("{}[]\"\\a, \n".utf8)),
        ("framing: { rule: escaped, start: 0x61, end: 0x61, escape: 0x62, limit: 100 B }", Array("abc".utf8)),
        (
            "framing: { rule: escaped, start: 0x61, end: 0x61, escape: 0x62, shared: true, limit: 100 B }",
            Array("abc".utf8)
        ),
        (
            "framing: { rule: escaped, end: 0xc0, escape: 0xdb, map: { 0xdc: 0xc0, 0xdd: 0xdb }, limit: 50 B }",
            [0xc0, 0xdb, 0xdc, 1]
        ),
        ("framing: { rule: cobs, limit: 50 B }", [0, 1, 2, 3, 4, 60]),
        (
            "header: [{ n: u8 }]\ntrailer: [{ e: { type: u8, equals: 1 } }]\nframing: { rule: cobs, limit: 50 B }",
            [0, 1, 2, 3]
        ),
        (
            "header: [{ n: u8 }]\nframing: { rule: length-field, field: n, counts: rest, limit: 40 B }",
            [0, 1, 2, 3, 60]
        ),
        (
            "header: [{ n: u16 }, { t: u8 }]\nframing: { rule: length-field, field: n, counts: frame, limit: 40 B }",
            [0, 3, 4, 5]
        ),
        ("header: [{ n: varint }]\nframing: { rule: length-field, field: n, limit: 300 B }", [0, 1, 2, 0x80, 0xff]),
        (
            "header: [{ m: { type: u16, equals: 0x0102 } }, { n: u8 }]\nframing: { rule: length-field, field: n, limit: 40 B }",
            [1, 2, 3]
        ),
        (
            "header: [{ m: { type: u32, equals: 0x01020102 } }, { n: u8 }]\nframing: { rule: length-field, field: n, limit: 40 B }",
            [1, 2]
        ),
        (
            "byteOrder: auto\nheader: [{ m: { type: u16, equals: 0x0102 } }, { n: u16 }]\nframing: { rule: length-field, field: n, limit: 900 B }",
            [0, 1, 2]
        ),
        (
            """
            oneOf:
              - { name: a, header: [{ t: { type: char, equals: "+" } }], framing: { rule: delimiter, end: "\\n", limit: 60 B } }
              - { name: b, header: [{ t: { type: char, equals: "$" } }, { n: { type: decimal, ends: "\\n", digits: 3 } }], framing: { rule: length-field, field: n, ends: "\\n", negative: empty, limit: 99 B } }
            """, Array("+$1-\n".utf8)
        ),
        (
            """
            first: { header: [{ n: u8 }, { c: u8 }], framing: { rule: length-field, field: n, counts: frame, limit: 50 B }, again: { field: c, in: [1] } }
            header: [{ t: u8 }, { n: u8 }]
            framing: { rule: length-field, field: n, limit: 50 B }
            """, [0, 1, 2, 3]
        ),
        (
            """
            alternatives:
              - { header: [{ a: u8 }, { n: u8 }] }
              - { header: [{ n: u8 }] }
            framing: { rule: length-field, field: n, limit: 30 B }
            """, [0, 1, 2, 40]
        ),
        (
            """
            header: [{ kind: u8 }]
            framing: { rule: fields, limit: 20 B, body: [{ until: "\\0" }] }
            """, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]
        ),
        (
            """
            header: [{ kind: u8 }]
            framing: { rule: fields, limit: 20 B, body: [{ size: chunked }] }
            """, [1, 48, 50, 53, 10, 10, 13]
        ),
        (
            """
            header: [{ stx: { type: u8, equals: 2 } }, { n: u8 }]
            trailer: [{ etx: { type: u8, equals: 3 } }]
            framing: { rule: length-field, field: n, limit: 40 B }
            """, [1, 2, 3, 4]
        ),
        ("header: [{ n: u8 }]\nframing: { rule: length-field, field: n, ends: \"\\n\", limit: 40 B }", [0, 1, 2, 10]),
        ("trailer: [{ e: { type: u8, equals: 1 } }]\nframing: { rule: fixed, size: 4 }", [0, 1, 2]),
        ("trailer: [{ e: { type: u16, equals: 0x0101 } }, { c: u8 }]\nframing: { rule: fixed, size: 5 }", [0, 1]),
        ("trailer: [{ e: { type: char, equals: b } }]\nframing: { rule: delimiter, end: \"\\n\" }", Array("ab\n".utf8)),
        (
            """
            header: [{ n: u8 }]
            trailer: [{ e: { type: u8, equals: 1 } }]
            framing: { rule: escaped, end: 0xc0, escape: 0xdb, limit: 50 B }
            """, [0xc0, 0xdb, 1, 2]
        ),
        (
            """
            header: [{ n: u8 }]
            framing: { rule: fields, body: [{ when: n == 0, until: ab }, { size: n }], ends: cd, limit: 40 B }
            """, [0, 1, 2] + Array("abcd".utf8)
        ),
        (
            "header: [{ words: [verb, \"rest*\"], ends: [\"\\r\\n\", \"\\n\"], limit: 20 B }]\nframing: { rule: fields }",
            Array("ab \r\n".utf8)
        ),
    ]

    @Test(arguments: formats.indices)
    func anyCuttingOfAnyBytesGivesTheSame(index: Int) throws {
        let (yaml, alphabet) = Self.formats[index]
        let format = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml")
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<25 {
            let count = Int.random(in: 1...160, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            for aligned in [true, false] {
                expectCuttingDoesNotMatter(
                    bytes, rule: format.directions.fromClient.rule, aligned: aligned, seed: seed,
                    everyPosition: round < 3)
            }
        }
    }

    /// Gaps anywhere: every byte is accounted for, and the bytes around them are framed.
    @Test(arguments: formats.indices)
    func gapsAreAccountedFor(index: Int) throws {
        let (yaml, alphabet) = Self.formats[index]
        let rule = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient.rule
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            var pieces: [Piece] = []
            var total = 0
            var missing = 0
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let count = Int.random(in: 1...30, using: &generator)
                total += count
                if Bool.random(using: &generator) {
                    pieces.append(.gap(count))
                    missing += count
                } else {
                    pieces.append(.bytes((0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }))
                }
            }
            let (log, counts) = frame(pieces, with: rule)
            #expect(counts.bytes == total && counts.missing == missing, "seed \(seed)")
            let framed = log.frames.reduce(0) { $0 + $1.length - $1.missing }
            #expect(framed == counts.framed, "seed \(seed)")
        }
    }

    /// The write-up's segmentation of `abcd` sent repeatedly: seven frames and a remainder.
    @Test func fixedFramesOfTheWriteUp() throws {
        let format = try #require(try BuiltInFormats.format(named: "fixed"))
        let pieces = ["abc", "da", "bcdabcd", "abcdabcd", "abcdabcdab"].map { Piece.bytes(Array($0.utf8)) }
        let (log, counts) = frame(pieces, with: format.directions.fromClient.rule)
        #expect(log.frames.count == 7)
        #expect(
            log.results.last
                == .unframed(
                    offset: 28, bytes: Array("ab".utf8), reason: .incomplete,
                    detail: "2 of 4 bytes when the stream ended"))
        #expect((counts.framed, counts.unframed) == (28, 2))
    }

    /// Every bracket is a place where framing may resume. How far each looks ahead is limited by the levels, so that a text of nothing but
    /// brackets is passed in linear time.
    @Test(arguments: ["[", #"{"a":"#]) func placesInJSONAreOfFewLevels(opening: String) {
        let rule = JSONSequence(limit: 1 << 20)
        for levels in [1, 2, 63, 64, 65, 100, 511, 600] {
            let text = Array((String(repeating: opening, count: levels) + String(repeating: " ", count: 20)).utf8)
            #expect(rule.mayStart(text.span.bytes, at: 0) == (levels <= 64), "\(levels) levels")
        }
    }
}
