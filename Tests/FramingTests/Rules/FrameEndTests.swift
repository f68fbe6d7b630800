import Framing
import Streams
import Testing

/// What must follow a body whose size is known: a trailer's constants, and a terminator.
@Suite struct FrameEndTests {
    private static let etx = """
        header: [{ stx: { type: u8, equals: 2 } }, { length: u8 }]
        trailer: [{ sum: u8 }, { etx: { type: u8, equals: 3 } }]
        framing: { rule: length-field, field: length }
        """
    private static let netstring = """
        header: [{ length: { type: decimal, ends: ":" } }]
        framing: { rule: length-field, field: length, ends: "," }
        """
    private static let amqp = """
        header: [{ kind: { type: u8, equals: [1..3] } }, { length: u8 }]
        framing: { rule: fields, body: length, ends: 0xce }
        """

    private func rule(_ yaml: String) throws -> any FramingRule {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient.rule
    }

    @Test(
        arguments: [
            (etx, [2, 2, 7, 7, 0, 3], 5, "etx is not 3 (end of the frame at offset 0)"),
            (netstring, Array("2:hi,".utf8), 4, "the frame does not end in \",\" (end of the frame at offset 0)"),
            (amqp, [1, 1, 7, 0xce], 3, "the frame does not end in 0xce (end of the frame at offset 0)"),
            (
                "trailer: [{ e: { type: char, equals: b } }]\nframing: { rule: fixed, size: 3 }", [1, 2, 0x62], 2,
                "e is not \"b\""
            ),
            (
                "trailer: [{ e: { type: char, equals: b } }]\nframing: { rule: delimiter, end: \"\\n\" }",
                [1, 0x62, 10],
                1, "e is not \"b\""
            ),
            (
                "trailer: [{ e: { type: char, equals: b } }]\nframing: { rule: escaped, end: 0xc0, escape: 0xdb }",
                [1, 0x62, 0xc0], 1, "e is not \"b\""
            ),
        ] as [(String, [UInt8], Int, String)])
    func aWrongEndIsNoFrame(yaml: String, bytes: [UInt8], place: Int, detail: String) throws {
        let rule = try rule(yaml)
        #expect(frame([.bytes(bytes)], with: rule).counts.framed == bytes.count)
        var wrong = bytes
        wrong[place] = 0x61
        let (log, counts) = frame([.bytes(wrong)], with: rule)
        #expect((counts.framed, counts.unframed) == (0, bytes.count))
        guard case .unframed(0, _, .badHead, let found)? = log.results.first else {
            Issue.record("\(log.results)")
            return
        }
        #expect(found.hasPrefix(detail), "\(found)")
        expectCuttingDoesNotMatter(wrong + bytes + bytes, rule: rule)
    }

    /// The frames behind one whose length is too small or too large are found.
    @Test(arguments: [etx, netstring, amqp], [-1, 1]) func aWrongLengthCostsItsFrameOnly(yaml: String, by: Int) throws {
        let format = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
        let body = Array("Hello".utf8)
        let kind = yaml == Self.amqp ? [Field("kind", .integer(1))] : []
        let right = try format.encode(kind, body: body)
        var wrong = right
        let place = yaml == Self.netstring ? 0 : 1
        wrong[place] = UInt8(Int(wrong[place]) + by)
        let others = [[UInt8]](repeating: right, count: 5)
        let log = frame([.bytes(right + wrong + others.joined())], with: format.rule).log
        let found = log.frames.map(\.offset)
        #expect(found == [0] + (2..<7).map { $0 * right.count }, "\(log.results)")
    }

    /// A body that ends elsewhere, or is missing, has its own end.
    @Test func otherEndsAreNotCompared() throws {
        let rule = try rule(
            """
            header: [{ n: u8 }]
            framing: { rule: fields, body: [{ when: n == 0, until: ab }, { size: n }], ends: cd }
            """)
        let bytes = [0, 7] + Array("ab".utf8) + [1, 7] + Array("cd".utf8)
        #expect(frame([.bytes(bytes)], with: rule).counts.frames == 2)
    }

    /// What was not seen is not wrong.
    @Test(arguments: 2..<7) func gapsInAFrameAreNoFault(from: Int) throws {
        let bytes: [UInt8] = [2, 3, 7, 7, 7, 0, 3]
        let pieces: [Piece] = [.bytes(Array(bytes[..<from])), .gap(1), .bytes(Array(bytes[(from + 1)...] + bytes))]
        let (log, counts) = frame(pieces, with: try rule(Self.etx))
        #expect(log.frames.map(\.offset) == [0, 7] && counts.missing == 1 && counts.unframed == 0)
    }

    /// Where readings differ only in their length, the end decides.
    @Test func theEndDecidesBetweenReadings() throws {
        let rule = try rule(
            "byteOrder: auto\nheader: [{ n: u16 }]\nframing: { rule: length-field, field: n, ends: \";\" }")
        // The other reading is of 259 bytes, the last of which is no end.
        let bytes = [[UInt8]](repeating: [0, 1, 0x61, 0x3b], count: 80).flatMap { $0 }
        #expect(frame([.bytes(bytes)], with: rule).counts.frames == 80)
    }

    /// To look for frames inside a long one would take too long: it is rejected whole.
    @Test func aLongFrameIsRejectedWhole() throws {
        let yaml =
            "header: [{ m: { type: u32, equals: 0x01020304 } }, { n: u24 }]\nframing: { rule: length-field, field: n, ends: \";\" }"
        let rule = try rule(yaml)
        let inside: [UInt8] = [1, 2, 3, 4, 0, 0, 0, 0x3b]
        let long = [1, 2, 3, 4, 1, 0x38, 0x80] + Array(repeating: inside, count: 10_000).joined() + [0]
        for pieces in [
            [Piece.bytes(long + inside)], cut(long + inside, at: Array(stride(from: 999, to: 80_000, by: 999))),
        ] {
            let (log, counts) = frame(pieces, with: rule)
            #expect(log.frames.map(\.offset) == [long.count] && counts.unframed == long.count)
        }
    }

    private static let fixed = "trailer: [{ etx: { type: u8, equals: 3 } }]\nframing: { rule: fixed, size: 8 }"

    /// The byte that ends frames of a fixed size may be in their bodies: a capture begins within a frame, after which it is at the
    /// same place in two frames.
    @Test(arguments: 1..<7) func aConstantInABodyEndsNoFrame(place: Int) throws {
        let rule = try rule(Self.fixed)
        var frames = (0..<12).map { [UInt8](repeating: UInt8(0x40 + $0), count: 7) + [3] }
        for index in 0..<2 { frames[index][place] = 3 }
        for start in 1...place {
            let bytes = Array(frames.joined().dropFirst(start))
            let (log, counts) = frame([.bytes(bytes)], with: rule, aligned: false)
            #expect(log.frames.map(\.offset) == (1..<12).map { 8 * $0 - start }, "from \(start)")
            #expect(counts.unframed == 8 - start)
            expectCuttingDoesNotMatter(bytes, rule: rule, aligned: false)
        }
    }

    /// A byte too many costs itself only, however long frames of a fixed size are.
    @Test(arguments: [8, 5_000]) func aStrayByteCostsNoFixedFrame(size: Int) throws {
        let rule = try rule("trailer: [{ etx: { type: u8, equals: 3 } }]\nframing: { rule: fixed, size: \(size) }")
        let one = [UInt8](repeating: 0x61, count: size - 1) + [3]
        let bytes = one + one + [0x61] + one + one + one
        for pieces in [[Piece.bytes(bytes)], cut(bytes, at: Array(stride(from: 7, to: bytes.count, by: size / 2 + 1)))]
        {
            let (log, counts) = frame(pieces, with: rule)
            #expect(log.frames.map(\.offset) == [0, size, 2 * size + 1, 3 * size + 1, 4 * size + 1])
            #expect(counts.unframed == 1)
        }
    }

    /// Half a line is no frame: any word could be a command.
    @Test func halfALineAfterAGapIsNoFrame() throws {
        let yaml = "header: [{ words: [verb, \"args*\"], ends: \"\\r\\n\" }]\nframing: { rule: fields }"
        let pieces: [Piece] = [
            .bytes(Array("GET a b\r\n".utf8)), .gap(4), .bytes(Array("secret path\r\nGET c d\r\nQUIT\r\n".utf8)),
        ]
        let (log, counts) = frame(pieces, with: try rule(yaml))
        #expect(log.frames.map(\.offset) == [0, 26, 35] && counts.unframed == 13)
        guard case .unframed(13, _, .afterGap, _)? = log.results.dropFirst(2).first else {
            Issue.record("\(log.results)")
            return
        }
    }
}
