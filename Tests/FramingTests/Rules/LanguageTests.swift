import Framing
import Streams
import Testing

/// The language features that the protocols of docs/examples need.
@Suite struct LanguageTests {
    private func client(_ yaml: String) throws -> DirectionFormat {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
    }

    /// The type and the fields of each frame, and the number of unframed bytes.
    private func read(_ bytes: [UInt8], _ format: DirectionFormat) -> (
        types: [String?], fields: [[Field]], unframed: Int
    ) {
        let (log, counts) = frame([.bytes(bytes)], with: format.rule)
        var types: [String?] = []
        var fields: [[Field]] = []
        for case .frame(_, _, let shape, _, let bytes) in log.results {
            format.withContent(of: bytes.span.bytes, shape) { content, shape in
                types.append(format.type(of: content, shape))
                fields.append(format.fields(of: content, shape))
            }
        }
        return (types, fields, counts.unframed)
    }

    /// Each frame, encoded from its own fields and body, gives its original bytes.
    private func expectRoundTrip(
        _ bytes: [UInt8], _ format: DirectionFormat, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (log, _) = frame([.bytes(bytes)], with: format.rule)
        var joined: [UInt8] = []
        for case .frame(_, _, let shape, _, let bytes) in log.results {
            let (fields, body) = format.withContent(of: bytes.span.bytes, shape) { content, shape in
                (format.fields(of: content, shape), content.copied(shape.head..<shape.head + shape.body))
            }
            joined += try format.encode(fields, body: body)
        }
        #expect(joined == bytes, sourceLocation: sourceLocation)
    }

    /// However short an escaped frame is, nothing outside it is read.
    @Test(arguments: ["frame: { type: op }", ""]) func shortEscapedFramesAreNoFrames(type: String) throws {
        let slip = try client(
            """
            framing: { rule: escaped, end: 0xC0, escape: 0xDB, map: { 0xDC: 0xC0, 0xDD: 0xDB } }
            header: [{ dev: u8 }, { op: u8 }]
            trailer: [{ sum: { type: u16, checksum: crc-16/modbus } }]
            \(type)
            """)
        for count in 1..<8 {
            let (types, fields, unframed) = read([UInt8](repeating: 1, count: count) + [0xc0], slip)
            #expect(types.count == (count < 4 ? 0 : 1) && fields.count == types.count, "\(count) bytes")
            #expect(unframed == (count < 4 ? count + 1 : 0), "\(count) bytes")
        }
        let next = read([1, 0xc0, 1, 2, 3, 4, 0xc0], slip)
        #expect(next.types.count == 1 && next.unframed == 2, "the next frame follows the flag that ends the short one")
        let trailerAlone = try client(
            """
            framing: { rule: escaped, end: 0xC0, escape: 0xDB }
            trailer: [{ sum: { type: u16, checksum: crc-16/modbus } }]
            """)
        #expect(read([1, 0xc0], trailerAlone).types.isEmpty && read([1, 2, 0xc0], trailerAlone).types.count == 1)
    }

    @Test func bitsHaveNamesForTheirValues() throws {
        let mqtt = try client(
            """
            header:
              - first: { type: u8, bits: { 0: retain, 1-2: qos, 4-7: { name: type, names: { 3: PUBLISH, 12: PING } } } }
              - length: { type: varint, max: 4 }
            framing: { rule: length-field, field: length }
            frame: { type: type }
            """)
        let bytes: [UInt8] = [0x35, 1, 9, 0xc0, 0]
        let read = read(bytes, mqtt)
        #expect(read.types == ["PUBLISH", "PING"])
        #expect(
            read.fields[0].dropLast() == [
                Field("first", .integer(0x35)), Field("retain", .integer(1)), Field("qos", .integer(2)),
                Field("type", .integer(3)),
            ])
        let fields = [Field("type", .text("PUBLISH")), Field("qos", .integer(2)), Field("retain", .integer(1))]
        #expect(try mqtt.encode(fields, body: [9]) == [0x35, 1, 9])
        try expectRoundTrip(bytes, mqtt)
    }

    @Test func bitsThatAreConstantsTellKindsApart() throws {
        let yaml = """
            oneOf:
              - { name: plain, header: [{ n: { type: u8, bits: { 0-3: size, 7: { name: more, equals: 0 } } } }] }
              - { name: long, header: [{ n: { type: u8, bits: { 0-3: size, 7: { name: more, equals: 1 } } } }, { id: u8 }] }
            framing: { rule: escaped, start: 0x7e, end: 0x7e, escape: 0x7d, limit: 64 B }
            """
        let format = try client(yaml)
        let bytes: [UInt8] = [0x7e, 1, 5, 0x7e, 0x7e, 0x82, 0x7d, 0x5e, 6, 0x7e]
        let read = read(bytes, format)
        #expect(read.types == ["plain", "long"] && read.unframed == 0)
        #expect(read.fields[1].last == Field("id", .integer(0x7e)))
        try expectRoundTrip(bytes, format)
        expectCuttingDoesNotMatter(bytes + [0x7e, 0x82, 0x7e] + bytes, rule: format.rule)
        // A frame of an unknown kind: the frame is lost, but not the position.
        #expect(self.read([0x7e, 0x82, 0x7e] + bytes, format).unframed == 3)
    }

    @Test func textHasNamesAndListsOfNamesAreShared() throws {
        let format = try client(
            """
            names: { types: { Q: Query, "1": ParseComplete } }
            header: [{ t: { type: char, names: types } }, { n: u8 }]
            framing: { rule: length-field, field: n }
            frame: { type: t }
            """)
        #expect(read([0x51, 0, 0x31, 0], format).types == ["Query", "ParseComplete"])
        #expect(try format.encode([Field("t", .text("Query"))], body: [7]) == [0x51, 1, 7])
    }

    /// PostgreSQL's server answers requests for encryption by one byte, of which there may be two in a row.
    @Test func theFirstFrameMayBeOneOfSeveral() throws {
        let format = try client(
            """
            first:
              oneOf:
                - { name: no, header: [{ answer: { type: char, equals: N } }], framing: { rule: fixed, size: 1 } }
                - { name: yes, header: [{ answer: { type: char, equals: S } }], framing: { rule: fixed, size: 1 } }
                - {}
              again: { field: answer, in: [N, S] }
            header: [{ type: { type: char, names: { N: Notice } } }, { n: u8 }]
            framing: { rule: length-field, field: n }
            frame: { type: type }
            """)
        let message: [UInt8] = [0x4e, 1, 9]
        for opening in [[], [0x4e], [0x53], [0x4e, 0x53]] as [[UInt8]] {
            let bytes = opening + [0x52, 0] + message
            let read = read(bytes, format)
            #expect(read.types.count == opening.count + 2 && read.unframed == 0)
            #expect(read.types.last == "Notice")
            try expectRoundTrip(bytes, format)
            expectCuttingDoesNotMatter(bytes, rule: format.rule)
        }
    }

    /// The same name in the headers of several kinds: the given values have to fit.
    @Test func encodingPicksTheKindThatTheValuesFit() throws {
        let format = try client(
            """
            first:
              header: [{ n: u8 }, { type: { type: u16, names: { 512: hello } } }]
              framing: { rule: length-field, field: n, counts: frame }
            header: [{ type: char }, { n: u8 }]
            framing: { rule: length-field, field: n }
            """)
        #expect(try format.encode([Field("type", .text("hello"))], body: [1]) == [4, 2, 0, 1])
        #expect(try format.encode([Field("type", .text("Q"))], body: [1]) == [0x51, 1, 1])
    }

    @Test func nullsOfRESPAreEncoded() throws {
        let format = try client(
            """
            header: [{ kind: { type: char, equals: "$" } }, { n: { type: decimal, ends: "\\r\\n" } }]
            framing: { rule: length-field, field: n, ends: "\\r\\n", negative: empty }
            """)
        try expectRoundTrip(Array("$-1\r\n$0\r\n\r\n$3\r\nabc\r\n$-1\r\n".utf8), format)
    }

    @Test func theDelimiterThatEndedAFrameIsWrittenAgain() throws {
        let format = try client("framing: { rule: delimiter, end: [\"\\r\\n\", \"\\n\", 0xfffe] }")
        try expectRoundTrip(Array("one\r\ntwo\nthree\r\n\n".utf8) + [1, 0xff, 0xfe], format)
        #expect(try format.encode([], body: [0x61]) == [0x61, 0x0a])
        #expect(throws: EncodingError.self) { try format.encode([Field("end", .text(";"))], body: []) }
    }

    @Test func bytesThatAreNoTextAreWrittenInHex() throws {
        let format = try client("framing: { rule: marker, start: 0xFFFE, idle: none }")
        #expect(read([0xff, 0xfe, 1, 0xff, 0xfe, 2], format).types.count == 2)
        let constant = try client(
            "header: [{ m: { type: bytes, size: 2, equals: 0xABCD } }]\nframing: { rule: fixed, size: 3 }")
        try expectRoundTrip([0xab, 0xcd, 1], constant)
    }

    @Test func nothingIsLeftUnreadBecauseSomethingBeforeItIsWrong() {
        let yaml = """
            format: My_chat
            header: [{ length: u61 }]
            framing: { rule: length-field, field: lenght }
            frame: { typ: length }
            body: txt
            """
        do throws(FormatFileError) {
            _ = try FormatLoader.load(yaml, file: "x.yaml")
            Issue.record("there is no fault")
        } catch {
            #expect(error.faults.map(\.line) == [1, 2, 3, 4, 5], "\(error)")
            #expect(error.description.contains("did you mean length?"))
        }
    }

    @Test(arguments: [
        ("header: [{ n: { type: u8, bits: { 8: x } } }]", "n has the bits 0 to 7, found 8"),
        ("header: [{ n: { type: char, bits: { 1: x } } }]", "only a field of type u8 to u64 has bits"),
        ("header: [{ n: { type: u8, bits: { 1-2: { name: x, equals: 4 } } } }]", "expected a whole number from 0 to 3"),
        ("header: [{ n: { type: u8, bits: { 1-2: { nam: x } } } }]", "did you mean name?"),
        (
            "names: { ids: { 1: a } }\nheader: [{ n: { type: u8, names: id } }]",
            "no list of names id; did you mean ids?"
        ),
        (
            "first: { again: { field: m, in: [1] } }\nheader: [{ n: u8 }]",
            "there is no field m in the first frame's header"
        ),
        ("first: { again: { field: n } }\nheader: [{ n: u8 }]", "lacks in"),
    ])
    func faultsAreSaid(yaml: String, part: String) {
        do throws(FormatFileError) {
            _ = try FormatLoader.load("format: x\nframing: { rule: fixed, size: 4 }\n" + yaml, file: "x.yaml")
            Issue.record("there is no fault")
        } catch {
            #expect(error.faults.contains { $0.message.contains(part) }, "\(error)")
        }
    }
}
