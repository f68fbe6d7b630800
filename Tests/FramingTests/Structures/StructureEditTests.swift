import Framing
import Streams
import Testing

/// An edited frame of the rule `fields` has the values that were asked for, and the bytes that nobody asked to change.
@Suite struct StructureEditTests {
    private func side(_ yaml: String) throws -> DirectionFormat {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
    }

    private func shape(_ bytes: [UInt8], _ side: DirectionFormat) throws -> FrameShape {
        let results = frame([.bytes(bytes)], with: side.rule).log.results
        guard results.count == 1, case .frame(_, _, let shape, _, _)? = results.first else {
            throw EncodingError("\(results) is not one frame")
        }
        return shape
    }

    private func edit(
        _ bytes: [UInt8], _ side: DirectionFormat, _ changes: [Field], body: String? = nil, isRaw: Bool = false
    ) throws -> [UInt8] {
        let shape = try shape(bytes, side)
        if let content = side.rule.content(of: bytes.span.bytes, shape) {
            return try side.edit(
                content.bytes.span.bytes, content.shape, changes: changes, body: body.map { .text($0) }, isRaw: isRaw)
        }
        return try side.edit(
            bytes.span.bytes, shape, changes: changes, body: body.map { .text($0) }, isRaw: isRaw)
    }

    /// Fields after the body belong to the frame as those before it do.
    @Test(arguments: ["rule: length-field, field: length", "rule: fields, body: length"])
    func fieldsAfterTheBodyAreChanged(framing: String) throws {
        let side = try side(
            """
            header: [{ kind: u8 }, { length: u8 }]
            trailer: [{ status: u8 }, { sum: { type: u8, checksum: sum8 } }]
            framing: { \(framing) }
            body: text
            """)
        let bytes: [UInt8] = [1, 2, 0x48, 0x69, 7, 0xbb]
        #expect(try edit(bytes, side, []) == bytes)
        #expect(try edit(bytes, side, [Field("status", .integer(9))]) == [1, 2, 0x48, 0x69, 9, 0xbd])
        #expect(
            try edit(bytes, side, [Field("kind", .integer(2)), Field("status", .integer(9))], body: "Hey")
                == [2, 3, 0x48, 0x65, 0x79, 9, 0x34])
        #expect(try edit(bytes, side, [Field("sum", .integer(9))], isRaw: true) == [1, 2, 0x48, 0x69, 7, 9])
        #expect(throws: EncodingError.self) { try edit(bytes, side, [Field("sum", .integer(9))]) }
        #expect(throws: EncodingError.self) { try edit(bytes, side, [Field("other", .integer(9))]) }
    }

    // MARK: Lines

    private static let lines = """
        header:
          - { words: [verb, target, "note*"], ends: ["\\r\\n", "\\n"] }
          - headers: { lines: ": ", ends: ["\\r\\n", "\\n"] }
        framing: { rule: fields, body: [{ when: 'headers["length"] exists', size: 'headers["length"]' }] }
        body: text
        """

    /// A frame as somebody has written it: ends, spaces and cases differ from line to line.
    private struct Message {
        var generator: SeededGenerator
        var first: [String] = []
        /// The name, what is before the value, the value, and the end of each line.
        var lines: [(name: String, separator: String, value: String, end: String)] = []
        var end = ""
        var body = ""

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
            let verb = text(1...5)
            first = [verb, spaces(), text(1...5), spaces(), text(1...3), spaces(), text(1...3), "", lineEnd()]
            for _ in 0..<number(0...5) { lines.append((name(), separator(), text(0...6), lineEnd())) }
            body = text(1...20)
            let place = number(0...lines.count)
            lines.insert((pick(["Length", "length"]), separator(), "\(body.utf8.count)", lineEnd()), at: place)
            end = lineEnd()
        }

        mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        mutating func pick(_ texts: [String]) -> String { texts[number(0...texts.count - 1)] }
        mutating func text(_ range: ClosedRange<Int>) -> String {
            String((0..<number(range)).map { _ in Character(pick(["a", "b", "Q", "7", "ä"])) })
        }
        private mutating func lineEnd() -> String { pick(["\r\n", "\n"]) }
        private mutating func spaces() -> String { pick([" ", "  ", "\t"]) }
        private mutating func separator() -> String { pick([":", ": "]) }
        // Some occur several times.
        private mutating func name() -> String { pick(["One", "one", "Two", "three", "Four"]) }

        var bytes: [UInt8] {
            Array(
                (first.joined() + lines.map { $0.name + $0.separator + $0.value + $0.end }.joined() + end + body).utf8)
        }
    }

    @Test func linesKeepTheirEndsAndSpaces() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let side = try side(Self.lines)
        for round in 0..<300 {
            var message = Message(seed: seed &+ UInt64(round))
            let before = message.bytes
            let place: Comment = "seed \(seed), round \(round): \(String(decoding: before, as: UTF8.self))"
            // Nothing, a word, the body, or the value of one line.
            #expect(try edit(before, side, []) == before, place)
            let word = message.text(1...9)
            message.first[2] = word
            #expect(try edit(before, side, [Field("target", .text(word))]) == message.bytes, place)
            message = Message(seed: seed &+ UInt64(round))
            let body = message.body + message.body
            message.body = body
            let length = try #require(message.lines.firstIndex { $0.name.lowercased() == "length" })
            message.lines[length].value = "\(body.utf8.count)"
            #expect(try edit(before, side, [], body: body) == message.bytes, place)
            message = Message(seed: seed &+ UInt64(round))
            let index = message.number(0...message.lines.count - 1)
            if message.lines[index].name.lowercased() == "length" { continue }
            message.lines[index].value = "new"
            let headers = Field("headers", .json(Self.object(message.lines.map { ($0.name, $0.value) }).compactText))
            #expect(try edit(before, side, [headers]) == message.bytes, place)
        }
    }

    /// The values of lines by name, as traces have them.
    private static func object(_ lines: [(name: String, value: String)]) -> JSONValue {
        var members: [(String, [JSONValue])] = []
        for line in lines {
            if let known = members.firstIndex(where: { $0.0.lowercased() == line.name.lowercased() }) {
                members[known].1.append(.text(line.value))
            } else {
                members.append((line.name, [.text(line.value)]))
            }
        }
        return .members(members.map { ($0.0, $0.1.count == 1 ? $0.1[0] : .array($0.1)) })
    }

    @Test func wordsThatAreNotTextRemain() throws {
        let side = try side(Self.lines)
        let (start, rest) = (
            Array("SEND  ".utf8) + [0xff, 0xc3], Array("  x\t\nA:".utf8) + [0xfe] + Array("\n\n".utf8)
        )
        let edited = try edit(start + rest, side, [Field("verb", .text("PUT"))])
        #expect(edited == Array("PUT  ".utf8) + [0xff, 0xc3] + rest)
    }

    /// Text of a fixed size, too.
    @Test(arguments: [[0xff, 0xc3, 0, 0, 5], [0xff, 0xff, 0xff, 0xff, 5]] as [[UInt8]])
    func textOfAFixedSizeThatIsNoTextRemains(bytes: [UInt8]) throws {
        let side = try side("header: [{ name: { type: string, size: 4 } }, { kind: u8 }]\nframing: { rule: fields }")
        let fields = side.fields(of: bytes.span.bytes, try shape(bytes, side))
        #expect(fields.map(\.name) == ["name", "kind"])
        #expect(try side.encode(fields, body: []) == bytes)
        #expect(try edit(bytes, side, [Field("kind", .integer(6))]) == Array(bytes[..<4]) + [6])
    }

    /// A header with more values than are read would lose the others.
    @Test func aHeaderOfTooManyValuesIsNotEdited() throws {
        let side = try side(
            "header: [{ kind: u8 }, { list: { repeat: u32, of: [{ n: u8 }] } }]\n"
                + "framing: { rule: fields, headLimit: 1 MiB }")
        // The second byte is the highest of the count.
        let bytes: [UInt8] = [1, 0, 1, 0, 0] + [UInt8](repeating: 9, count: 65_536)
        let reason = "the header cannot be read, or has more than 65536 values"
        #expect(throws: EncodingError(reason)) { try edit(bytes, side, [Field("kind", .integer(2))]) }
    }

    @Test func linesComeAndGo() throws {
        let side = try side(Self.lines)
        let before = Array("SEND  a\nlength:2\nb: 1\r\n\nhi".utf8)
        for (headers, after) in [
            ("{\"length\":\"2\"}", "SEND  a\nlength:2\n\nhi"),
            ("{\"length\":\"2\",\"c\":\"3\",\"b\":\"1\"}", "SEND  a\nlength:2\nc: 3\nb: 1\r\n\nhi"),
            ("{\"b\":\"1\",\"length\":\"2\"}", "SEND  a\nb: 1\r\nlength:2\n\nhi"),
            ("{\"Length\":\"2\",\"b\":null}", "SEND  a\nLength:2\nb\r\n\nhi"),
        ] {
            #expect(try edit(before, side, [Field("headers", .json(headers))]) == Array(after.utf8), "\(headers)")
        }
        // A frame whose lines end in LF gets no CR.
        let plain = Array("SEND a\nlength:2\n\nhi".utf8)
        let added = try edit(plain, side, [Field("headers", .json("{\"length\":\"2\",\"x\":\"y\"}"))])
        #expect(added == Array("SEND a\nlength:2\nx: y\n\nhi".utf8))
    }

    // MARK: Numbers

    private static let rules = [
        "framing: { rule: length-field, field: length, counts: body }", "framing: { rule: fields, body: length }",
    ]

    /// Bits without a name remain, too.
    @Test(arguments: rules) func bitsAreReplaced(rule: String) throws {
        let side = try side(
            "header: [{ length: u8 }, { flags: { type: u16, byteOrder: little, bits: { 1-2: mode, 9-12: kind } } }]\n"
                + rule)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let flags = UInt16.random(in: 0...UInt16.max, using: &generator)
            let kind = UInt16.random(in: 0...15, using: &generator)
            func bytes(_ flags: UInt16) -> [UInt8] { [1, UInt8(flags & 0xff), UInt8(flags >> 8), 7] }
            let after = bytes(flags & ~0x1e00 | kind << 9)
            for isRaw in [false, true] {
                let change = Field("kind", .integer(Int64(kind)))
                #expect(try edit(bytes(flags), side, [change], isRaw: isRaw) == after, "seed \(seed)")
            }
            #expect(throws: EncodingError.self) { try edit(bytes(flags), side, [Field("kind", .integer(16))]) }
        }
    }

    @Test func aLengthInBitsLeavesTheOthers() throws {
        let side = try side(
            "header: [{ first: { type: u16, bits: { 0-11: length } } }]\nframing: { rule: fields, body: length }\nbody: text"
        )
        #expect(try edit([0xa0, 0x02, 0x68, 0x69], side, [], body: "Hello") == [0xa0, 0x05] + Array("Hello".utf8))
    }

    /// Numbers that are not written in the shortest way remain so where they are the same.
    @Test func numbersKeepTheirForm() throws {
        let side = try side(
            """
            header:
              - { length: { type: decimal, ends: ":" } }
              - { id: varint }
              - { name: { type: string, size: varint } }
              - { names: { repeat: varint, of: [{ name: { type: string, size: { type: decimal, ends: ":" } } }] } }
              - { size: u8 }
              - { number: { type: uint, size: size } }
              - { kind: u8 }
            framing: { rule: fields, body: length }
            body: text
            """)
        let head =
            Array("002:".utf8) + [0x81, 0x00, 0x82, 0x00, 0x61, 0x62, 0x82, 0x80, 0x00] + Array("01:x02:yz".utf8)
        let before = head + [4, 0, 0, 0, 5, 9] + Array("hi".utf8)
        #expect(try edit(before, side, [Field("kind", .integer(8))]) == head + [4, 0, 0, 0, 5, 8] + Array("hi".utf8))
        #expect(try edit(before, side, [], body: "yo") == head + [4, 0, 0, 0, 5, 9] + Array("yo".utf8))
        let names = try edit(before, side, [Field("names", .json("[\"x\",\"new\"]"))])
        #expect(
            names == Array(head[..<(head.count - 5)]) + Array("3:new".utf8) + [4, 0, 0, 0, 5, 9] + Array("hi".utf8))
    }

    @Test func headsOfJSONKeepTheirMembers() throws {
        let side = try side("framing: { rule: head-and-body, head: json, ends: \"\\n\", size: size }\nbody: text")
        let before = Array("{\"z\": 1 , \"size\":\"2\",  \"a\":[ 1,2 ]}\nhi".utf8)
        let edited = try edit(before, side, [Field("z", .text("x")), Field("new", .integer(3))], body: "Hello")
        #expect(edited == Array("{\"z\": \"x\" , \"size\":\"5\",  \"a\":[ 1,2 ],  \"new\":3}\nHello".utf8))
    }

    // MARK: Masks

    /// The receiver reads a body with the mask that it gets.
    @Test(arguments: ["rule: length-field, field: length", "rule: fields, body: length"])
    func aChangedMaskIsThatOfTheBody(framing: String) throws {
        let (old, new): ([UInt8], [UInt8]) = ([1, 2, 3, 4], [0x37, 0xfa, 0x21, 0x3d])
        func masked(_ text: String, _ mask: [UInt8]) -> [UInt8] {
            mask + [UInt8(text.utf8.count)] + text.utf8.enumerated().map { $1 ^ mask[$0 % 4] }
        }
        for (type, value) in [
            ("u32", FieldValue.integer(0x37fa_213d)), ("{ type: u32, byteOrder: little }", .integer(0x3d21_fa37)),
            ("{ type: bytes, size: 4 }", .text("37fa213d")),
        ] {
            let side = try side(
                "header: [{ mask: \(type) }, { length: u8 }]\nframing: { \(framing) }\nbody: [{ xor: { key: mask } }, text]"
            )
            let (before, change) = (masked("Hello", old), Field("mask", value))
            #expect(try edit(before, side, [change]) == masked("Hello", new), "\(type)")
            #expect(try edit(before, side, [change], body: "Hey, you") == masked("Hey, you", new), "\(type)")
            #expect(try edit(before, side, [], body: "Hey, you") == masked("Hey, you", old), "\(type)")
            // A mask that is wrong on purpose.
            #expect(try edit(before, side, [change], isRaw: true) == new + before[4...], "\(type)")
            #expect(try edit(before, side, [change], body: "Olleh", isRaw: true) == masked("Olleh", new), "\(type)")
        }
    }

    private func masked(_ text: String, _ mask: [UInt8]) -> [UInt8] {
        text.utf8.enumerated().map { $1 ^ mask[$0 % mask.count] }
    }

    /// As in WebSocket, where a server's frames have no mask.
    @Test func aMaskThatIsRemovedIsTakenFromTheBody() throws {
        let side = try side(
            """
            header:
              - flags: { type: u8, bits: { 7: masked, 0-6: length } }
              - mask: { type: bytes, size: 4, when: masked == 1 }
            framing: { rule: fields, body: length }
            body: [{ xor: { key: mask } }, text]
            """)
        let mask: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]
        let before = [0x85] + mask + masked("Hello", mask)
        #expect(try edit(before, side, [Field("masked", .integer(0))]) == [5] + Array("Hello".utf8))
        #expect(try edit(before, side, [Field("masked", .integer(0))], body: "Hey") == [3] + Array("Hey".utf8))
        let set = [Field("masked", .integer(1)), Field("mask", .text("37fa213d"))]
        #expect(try edit([5] + Array("Hello".utf8), side, set) == before)
    }

    /// A key may be a part of what changes, and a change may name it by another name.
    @Test(arguments: [Field("key", .text("blue")), Field("key", .integer(5)), Field("flags", .integer(0x35))])
    func aKeyThatIsBitsIsThatOfTheBody(change: Field) throws {
        let side = try side(
            """
            header: [{ flags: { type: u8, bits: { 0-3: { name: key, names: { 1: red, 5: blue } } } } }, { length: u8 }]
            framing: { rule: length-field, field: length }
            body: [{ xor: { key: key } }, text]
            """)
        let edited = try edit([0x31, 5] + masked("Hello", [1]), side, [change])
        #expect(edited == [0x35, 5] + masked("Hello", [5]))
    }

    /// The encodings of a body, too, are those of the header that the frame will have.
    @Test func aNewBodyIsEncodedForTheNewHeader() throws {
        let side = try side(
            """
            header: [{ kind: { type: u8, names: { 1: plain, 8: packed } } }, { mask: u8 }, { length: u8 }]
            framing: { rule: length-field, field: length }
            body:
              cases: [{ when: kind == 8, as: [{ xor: { key: mask } }, base64, text] }]
              else: [{ xor: { key: mask } }, text]
            """)
        let before: [UInt8] = [1, 9, 5] + masked("Hello", [9])
        let packed = try edit(before, side, [Field("kind", .text("packed"))], body: "Hey")
        #expect(packed == [8, 9, 4] + masked("SGV5", [9]))
        #expect(try edit(packed, side, [Field("kind", .text("packed"))], body: "Hey") == packed)
        #expect(try edit(packed, side, [Field("mask", .integer(2))]) == [8, 2, 4] + masked("SGV5", [2]))
    }

    @Test func aKeyInsideAnotherEncodingNeedsTheBody() throws {
        let side = try side(
            """
            header: [{ mask: u8 }, { length: u8 }]
            framing: { rule: length-field, field: length }
            body: [base64, { xor: { key: mask } }, text]
            """)
        let before = try side.encode([Field("mask", .integer(1))], body: Array("SGV5".utf8))
        let error = #expect(throws: EncodingError.self) { try edit(before, side, [Field("mask", .integer(2))]) }
        #expect(error?.description.hasSuffix("would be another one: give the body, too") == true)
        // "J" is "H" with the mask.
        #expect(try edit(before, side, [Field("mask", .integer(2))], body: "H") == [2, 4] + Array("Sg==".utf8))
    }

    // MARK: Refusals

    private static let head =
        "header: [{ length: u8 }, { mark: { type: u8, equals: 7 } }, { flag: u8 }, "
        + "{ extra: { type: u8, when: flag == 1 } }, { sum: { type: u8, checksum: xor8, over: [start, end] } }]\nbody: text\n"

    /// What cannot be changed says so, unless it is given as it is.
    @Test func anEditThatCannotBeMadeIsRefused() throws {
        let side = try side(Self.head + Self.rules[1])
        let before = try side.encode([Field("flag", .integer(0))], body: [1, 2])
        for (name, reason) in [
            ("mark", "mark always has the same value; raw: true overwrites it"),
            ("length", "length would be 2, which follows from the rest of the frame; raw: true overwrites it"),
            ("sum", "sum would be \(before[3]), which follows from the rest of the frame; raw: true overwrites it"),
            ("extra", "the frame would have no extra: its other values rule that out"),
        ] {
            let error = #expect(throws: EncodingError.self) { try edit(before, side, [Field(name, .integer(99))]) }
            #expect(error?.description == reason)
            // What a format with secrets may show.
            #expect(error?.withoutValues.contains(#/would be \d/#) == false)
        }
        let known = side.fields(of: before.span.bytes, try shape(before, side))
        #expect(try edit(before, side, known) == before)
        #expect(try edit(before, side, known, body: "abc").prefix(3) == [3, 7, 0])
        #expect(throws: EncodingError("extra has no bytes of its own to overwrite")) {
            try edit(before, side, [Field("extra", .integer(1))], isRaw: true)
        }
    }

    /// A constant is not replaced by a text either; by the name of its value it remains.
    @Test(arguments: rules) func constantsAreComparedByName(rule: String) throws {
        let side = try side(
            "header: [{ length: u8 }, { mark: { type: u8, equals: 7, names: { 7: seven, 9: nine } } }, "
                + "{ tag: { type: char, equals: b } }]\n" + rule)
        let before: [UInt8] = [1, 7, 0x62, 5]
        for (name, value) in [
            ("mark", .text("nine")), ("mark", .text("word")), ("mark", .text("9")), ("mark", .integer(9)),
            ("mark", .boolean(true)), ("tag", .text("c")), ("tag", .integer(5)),
        ] as [(String, FieldValue)] {
            let reason = "\(name) always has the same value; raw: true overwrites it"
            #expect(throws: EncodingError(reason), "\(value)") { try edit(before, side, [Field(name, value)]) }
        }
        for value in [FieldValue.text("seven"), .integer(7)] {
            #expect(try edit(before, side, [Field("mark", value)]) == before, "\(value)")
        }
        #expect(throws: EncodingError.self) { try edit(before, side, [Field("length", .text("2"))]) }
    }

    @Test func namesInsideListsAreValues() throws {
        let side = try side(
            "header: [{ list: { repeat: u8, of: [{ kind: { type: u8, names: { 1: one, 2: two } } }] } }]\n"
                + "framing: { rule: fields }")
        let list = Field("list", .json(#"["two",1]"#))
        #expect(try edit([2, 1, 1], side, [list]) == [2, 2, 1])
    }

    @Test func rawReplacesTheHeader() throws {
        let side = try side(Self.lines)
        let before = Array("SEND a\nlength:2\n\nhi".utf8)
        let header = Array("PUT  b\r\nlength:  9\r\n\n".utf8)
        let raw = Field("raw", .bytes(header))
        #expect(try edit(before, side, [raw], isRaw: true) == header + Array("hi".utf8))
        #expect(try edit(before, side, [raw]) == Array("PUT  b\r\nlength: 2\r\n\nhi".utf8))
        #expect(throws: EncodingError.self) { try edit(before, side, [Field("raw", .text("00"))]) }
    }

    // MARK: Overwriting

    /// A header with one of everything: overwriting a value changes the bytes of its place alone.
    @Test func valuesAreOverwrittenWhereTheyAre() throws {
        let side = try side(
            """
            header:
              - { flags: { type: u8, bits: { 0: little, 4-7: kind } } }
              - { number: { type: u16, byteOrder: { little: little == 1 } } }
              - { name: { type: string, size: u8 } }
              - { padded: { type: string, size: 4 } }
              - { title: { type: string, ends: ["\\r\\n", "\\n"] } }
              - { words: [verb, { amount: decimal }], ends: "\\n" }
              - { headers: { lines: ": ", ends: "\\n" } }
              - { list: { repeat: 1, of: [{ one: u8 }] } }
            framing: { rule: fields }
            """)
        let parts: [[UInt8]] = [
            [0x31], [0x34, 0x12], [2], Array("ab".utf8), Array("cd\0\0".utf8), Array("title".utf8), [10],
            Array("PUT".utf8), Array("  ".utf8), Array("5".utf8), [10], Array("a:b\n".utf8), [10], [9],
        ]
        for (name, value, index, bytes) in [
            ("number", .integer(0x5678), 1, [0x78, 0x56]), ("name", .text("long"), 3, Array("long".utf8)),
            ("padded", .text("e"), 4, Array("e\0\0\0".utf8)), ("title", .text(""), 5, []),
            ("verb", .text("DELETE"), 7, Array("DELETE".utf8)), ("amount", .integer(77), 9, Array("77".utf8)),
            ("headers", .json("{\"a\":\"c\"}"), 11, Array("a:c\n".utf8)), ("kind", .integer(2), 0, [0x21]),
        ] as [(String, FieldValue, Int, [UInt8])] {
            var after = parts
            after[index] = bytes
            let before = parts.flatMap { $0 }
            #expect(try edit(before, side, [Field(name, value)], isRaw: true) == after.flatMap { $0 }, "\(name)")
            if name == "kind" { continue }
            let start = parts[..<index].reduce(0) { $0 + $1.count }
            let place = side.place(ofField: name, in: before.span.bytes, try shape(before, side))
            #expect(place == start..<start + parts[index].count, "\(name)")
        }
        #expect(throws: EncodingError.self) {
            try edit(parts.flatMap { $0 }, side, [Field("list", .json("[1]"))], isRaw: true)
        }
    }

    /// A body in chunks remains one, whatever its header says then.
    @Test func chunksRemain() throws {
        let side = try side(
            """
            header: [{ words: [verb], ends: "\\n" }, { headers: { lines: ": ", ends: "\\n" } }]
            framing: { rule: fields, body: [{ when: 'headers["te"] == "chunked"', size: chunked }] }
            body: text
            """)
        let body = "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrail: x\r\n\r\n"
        let before = Array(("P\nte: chunked\n\n" + body).utf8)
        let raw = try edit(before, side, [Field("headers", .json("{\"te\":\"none\"}"))], isRaw: true)
        #expect(raw == Array(("P\nte: none\n\n" + body).utf8))
        #expect(try edit(before, side, [Field("verb", .text("Q"))]) == Array(("Q\nte: chunked\n\n" + body).utf8))
    }
}
