import Framing
import Streams
import Testing

/// The rule `fields` and the encoding `fields`: what is written is read, however it is cut, and hostile sizes do no harm.
@Suite struct StructureTests {
    private func format(_ yaml: String) throws -> Format { try FormatLoader.load("format: x\n" + yaml, file: "x.yaml") }

    /// One of everything.
    private static let everything = """
        types:
          value:
            oneOf:
              - ["s", { text: { type: string, size: u8 } }]
              - ["i", { number: i32 }]
              - ["l", { list: { repeat: u16, of: value } }]
              - ["n"]
        header:
          - "HD"
          - flags: { type: u8, bits: { 0: hasName, 1: hasList, 2: little, 4-7: kind } }
          - number: { type: u32, byteOrder: { little: little == 1 } }
          - name: { type: string, size: varint, when: hasName == 1 }
          - title: { type: string, ends: "\\0" }
          - quoted: { type: string, ends: " ", quoted: true }
          - count: u8
          - names: { repeat: count, of: [{ name: { type: string, size: { type: decimal, ends: ":" } } }] }
          - pairs: { until: "\\0", of: [{ key: { type: string, ends: "=" } }, { value: { type: string, ends: ";" } }], when: hasList == 1 }
          - area:
              size: u16
              fields: [{ inner: u8 }, { items: { repeat: rest, of: [{ id: { type: uint, size: ber } }, { check: { type: hex, digits: 4 } }] } }]
          - value: { use: value }
          - { words: [verb, { amount: decimal }, "note*"], ends: "\\r\\n" }
          - headers: { lines: ": ", ends: "\\r\\n" }
          - short: u8
          - length: { value: short, when: short < 200 }
          - length: { type: u16, when: short == 200 }
        framing: { rule: fields, body: length, ends: "!" }
        """

    private struct Values {
        var generator: SeededGenerator

        mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

        mutating func text(_ most: Int, _ letters: String = "abcdefghij äß東😀,.") -> String {
            let letters = Array(letters)
            return String((0..<number(0...most)).map { _ in letters[number(0...letters.count - 1)] })
        }

        mutating func json(_ depth: Int = 0) -> JSONValue {
            switch number(0...(depth > 3 ? 1 : 3)) {
            case 0: return .members([("text", .text(text(20)))])
            case 1: return .members([("number", .number(String(number(-70_000...70_000))))])
            case 2:
                let count = number(0...4)
                return .members([("list", .array((0..<count).map { _ in json(depth + 1) }))])
            default: return .members([])
            }
        }

        mutating func fields() -> [Field] {
            func list(_ count: Int, _ element: (inout Values) -> JSONValue) -> FieldValue {
                .json(JSONValue.array((0..<count).map { _ in element(&self) }).compactText)
            }
            var fields: [Field] = []
            let (hasName, hasList) = (number(0...1), number(0...1))
            fields.append(
                Field("flags", .integer(Int64(hasName | hasList << 1 | number(0...1) << 2 | number(0...15) << 4))))
            fields.append(Field("number", .integer(Int64(number(0...0xffff_ffff)))))
            if hasName == 1 { fields.append(Field("name", .text(text(200)))) }
            fields.append(Field("title", .text(text(30))))
            fields.append(Field("quoted", .text("\"" + text(9, "ab c\u{e4}") + "\"")))
            let count = number(0...9)
            fields.append(Field("count", .integer(Int64(count))))
            fields.append(Field("names", list(count) { .text($0.text(12)) }))
            if hasList == 1 {
                let pairs = list(number(0...4)) { own in
                    .members([("key", .text("k" + own.text(5, "abc"))), ("value", .text(own.text(5, "abc")))])
                }
                fields.append(Field("pairs", pairs))
            }
            let items = JSONValue.array(
                (0..<number(0...5)).map { _ in
                    .members([("id", .number(String(number(0...300)))), ("check", .number(String(number(0...0xffff))))])
                })
            fields.append(
                Field("area", .json(JSONValue.members([("inner", .number("7")), ("items", items)]).compactText)))
            fields.append(Field("value", .json(json().compactText)))
            fields.append(Field("verb", .text("v" + text(5, "abc"))))
            fields.append(Field("amount", .integer(Int64(number(-5...1000)))))
            if number(0...1) == 1 { fields.append(Field("note", .text("some " + text(9, "ab ")))) }
            let headers = JSONValue.members([
                ("Host", .text(text(9, "abc"))), ("Many", .array([.text("one"), .text("two")])), ("odd", .text(" x")),
            ])
            fields.append(Field("headers", .json(headers.compactText)))
            return fields
        }
    }

    @Test(arguments: [3, 1415, 92653, UInt64.random(in: 0...UInt64.max)])
    func whatIsWrittenIsRead(_ seed: UInt64) throws {
        let side = try format(Self.everything).directions.fromClient
        var values = Values(generator: SeededGenerator(seed: seed))
        var stream: [UInt8] = []
        var written: [(fields: [Field], frame: [UInt8])] = []
        for _ in 0..<30 {
            let fields = values.fields()
            let body = Array(values.text(values.number(0...1) == 1 ? 90 : 20).utf8)
            let frame = try side.encode(fields, body: body)
            written.append((fields, frame))
            stream += frame
        }
        let whole = frame([.bytes(stream)], with: side.rule)
        let frames = whole.log.results.compactMap { result -> (FrameShape, [UInt8])? in
            if case .frame(_, _, let shape, _, let bytes) = result { (shape, bytes) } else { nil }
        }
        #expect(whole.log.results.count == 30 && frames.map(\.1) == written.map(\.frame), "seed \(seed)")
        for ((shape, bytes), own) in zip(frames, written) {
            let read = side.fields(of: bytes.span.bytes, shape)
            for field in own.fields {
                #expect(read.first { $0.name == field.name }?.value == field.value, "\(field.name), seed \(seed)")
            }
            let body = Array(bytes[shape.head..<shape.head + shape.body])
            #expect(try side.encode(read, body: body) == bytes, "seed \(seed)")
        }
        // Any segmentation.
        let bytewise = frame(stream.map { .bytes([$0]) }, with: side.rule)
        #expect(bytewise.log.results == whole.log.results, "seed \(seed)")
        for _ in 0..<50 {
            let places = (0..<values.number(1...12)).map { _ in values.number(0...stream.count) }
            #expect(
                frame(cut(stream, at: places), with: side.rule).log.results == whole.log.results,
                "seed \(seed) \(places)")
        }
    }

    /// Counts, sizes and the length follow what was edited.
    @Test func editingRecomputesWhatCounts() throws {
        let side = try format(Self.everything).directions.fromClient
        var values = Values(generator: SeededGenerator(seed: 8))
        let bytes = try side.encode(values.fields(), body: [1, 2, 3])
        guard case .frame(_, _, let shape, _, _)? = frame([.bytes(bytes)], with: side.rule).log.results.first else {
            Issue.record("no frame")
            return
        }
        let names = Field("names", .json("[\"a\",\"bcd\",\"\"]"))
        for length in [0, 199, 200, 70_000] {
            let edited = try? side.edit(
                bytes.span.bytes, shape, changes: [names], body: .bytes([UInt8](repeating: 7, count: length)),
                isRaw: false)
            // A length of two bytes ends at 65,535.
            #expect((edited == nil) == (length == 70_000))
            guard let edited else { continue }
            let results = frame([.bytes(edited)], with: side.rule).log.results
            guard case .frame(_, _, let shape, _, _)? = results.first, results.count == 1 else {
                Issue.record("\(results)")
                continue
            }
            let fields = side.fields(of: edited.span.bytes, shape)
            #expect(shape.body == length)
            #expect(fields.first { $0.name == "count" }?.value == .integer(3))
            #expect(fields.first { $0.name == "names" }?.value == names.value)
            // The shortest form that fits.
            #expect(fields.first { $0.name == "short" }?.value == .integer(Int64(min(length, 200))))
        }
    }

    // MARK: Hostile bytes

    @Test(arguments: [
        // Four billion elements, four billion bytes, both without any.
        ("header: [{ list: { repeat: u32, of: [{ x: u8 }] } }]", "ffffffff01"),
        ("header: [{ text: { type: string, size: u32 } }]", "ffffffff41"),
        ("header: [{ n: u8 }, { list: { repeat: 4000000000, of: [{ x: { type: u8, when: n == 1 } }] } }]", "00"),
        ("header: [{ text: { type: string, size: i8 } }]", "80"),
        ("header: [{ list: { repeat: i8, of: [{ x: u8 }] } }]", "80"),
        ("header: [{ text: { type: string, ends: \"\\n\", limit: 8 B } }]", "4141414141414141414141"),
        ("header: [{ n: { type: u64 } }]\nframing: { rule: fields, body: n }", "ffffffffffffffff"),
        ("header: [{ n: { type: i32 } }]\nframing: { rule: fields, body: n - 10 }", "00000000"),
        ("header: [{ n: u8 }]\nframing: { rule: fields, body: 10 / n }", "00"),
        ("header: [\"a\"]\nframing: { rule: fields, body: chunked }", "61666666666666666666660d0a"),
        ("header: [\"a\"]\nframing: { rule: fields, body: chunked }", "61330d0a61626364650d0a"),
        (
            "types: { t: [\"(\", { inner: { use: t } }] }\nheader: [{ x: { use: t } }]",
            String(repeating: "28", count: 99)
        ),
        (
            "header: [{ lines: { lines: \":\", ends: \"\\n\", limit: 16 B } }]",
            "613a620a613a620a613a620a613a620a613a620a"
        ),
        (
            "header: [{ words: [verb, { n: decimal }], ends: \"\\n\" }]",
            "61203130303030303030303030303030303030303030300a"
        ),
        ("header: [{ kind: { type: u8, equals: [1, 3..5] } }]", "02"),
    ])
    func hostileBytesAreReported(_ yaml: String, _ hex: String) throws {
        let framing = yaml.contains("framing") ? "" : "\nframing: { rule: fields, limit: 1 MiB }"
        let side = try format(yaml + framing).directions.fromClient
        let bytes = try bytes(hex: hex) + [UInt8](repeating: 0x41, count: 64)
        for pieces in [[Piece.bytes(bytes)], bytes.map { .bytes([$0]) }] {
            let (log, counts) = frame(pieces, with: side.rule)
            #expect(counts.frames == 0 || log.results.count > 1, "\(log.results)")
            guard case .unframed? = log.results.first else {
                Issue.record("\(yaml): \(log.results)")
                continue
            }
            #expect(counts.framed + counts.unframed == bytes.count)
        }
    }

    /// A list of many elements that arrives byte by byte: each byte is examined once, or this would not end.
    @Test func aLongListIsWalkedOnce() throws {
        let side = try format(
            "header: [{ list: { repeat: u32, of: [{ x: { type: string, size: u8 } }] } }]\nframing: { rule: fields }"
        ).directions.fromClient
        let count = 20_000
        var bytes: [UInt8] = [0, 0, 0x4e, 0x20]
        for _ in 0..<count { bytes += [1, 0x61] }
        let (log, _) = frame(bytes.map { .bytes([$0]) }, with: side.rule)
        guard case .frame(_, 0, let shape, 0, _)? = log.results.first, log.results.count == 1 else {
            Issue.record("\(log.results.count)")
            return
        }
        #expect(shape.head == bytes.count)
        // So many values are not shown; the header is, as it came, and can be written again.
        let fields = side.fields(of: bytes.span.bytes, shape)
        #expect(fields.map(\.name).contains("list"))
        #expect(try side.encode(fields, body: []) == bytes)
    }

    /// What does not fit inside an item with a size is its rest, and does not affect what follows.
    @Test func aFaultStaysInsideItsItem() throws {
        let yaml = """
            header: [{ area: { size: u8, fields: [{ a: u8 }, { kind: { type: u8, equals: 9 } }, { b: u16 }] } }, { after: u8 }]
            framing: { rule: fields }
            """
        let side = try format(yaml).directions.fromClient
        for (hex, area) in [
            ("0401090002ff", "{\"a\":1,\"kind\":9,\"b\":2}"), ("0401080002ff", "{\"a\":1,\"rest\":\"080002\"}"),
            ("06010900020304ff", "{\"a\":1,\"kind\":9,\"b\":2,\"rest\":\"0304\"}"),
            ("020109ff", "{\"a\":1,\"kind\":9}"),
            ("0101ff", "{\"a\":1}"), ("00ff", "{}"),
        ] {
            let bytes = try bytes(hex: hex)
            let results = frame([.bytes(bytes)], with: side.rule).log.results
            guard case .frame(_, 0, let shape, 0, _)? = results.first, results.count == 1 else {
                Issue.record("\(hex): \(results)")
                continue
            }
            let fields = side.fields(of: bytes.span.bytes, shape)
            #expect(fields == [Field("area", .json(area)), Field("after", .integer(255))], "\(hex)")
            #expect(try side.encode(fields, body: []) == bytes, "\(hex)")
        }
    }

    /// Items with sizes inside items with sizes: each is written once, or thirty levels would take as long as a billion.
    @Test func sizesInsideSizesAreWrittenOnce() throws {
        let yaml = """
            types: { inner: [{ kind: u8 }, { count: u16 }, { more: { size: count, use: inner, when: kind == 1 } }] }
            header: [{ top: { use: inner } }]
            framing: { rule: fields }
            """
        let side = try format(yaml).directions.fromClient
        var bytes: [UInt8] = [0, 0, 0]
        for _ in 0..<28 { bytes = [1, 0, UInt8(bytes.count)] + bytes }
        let results = frame([.bytes(bytes)], with: side.rule).log.results
        guard case .frame(_, 0, let shape, 0, _)? = results.first, results.count == 1 else {
            Issue.record("\(results)")
            return
        }
        let fields = side.fields(of: bytes.span.bytes, shape)
        #expect(fields.map(\.name) == ["top"])
        #expect(try side.encode(fields, body: []) == bytes)
    }

    /// In a list, the rest belongs to the element in which it begins.
    @Test func aFaultStaysInsideItsList() throws {
        let yaml = """
            header: [{ list: { size: u8, repeat: rest, of: [{ kind: { type: u8, equals: 9 } }, { b: u16 }] } }, { after: u8 }]
            framing: { rule: fields }
            """
        let side = try format(yaml).directions.fromClient
        let bytes = try bytes(hex: "070900020800030405")
        guard case .frame(_, 0, let shape, 0, _)? = frame([.bytes(bytes)], with: side.rule).log.results.first else {
            Issue.record("no frame")
            return
        }
        let fields = side.fields(of: bytes.span.bytes, shape)
        #expect(
            fields == [
                Field("list", .json("[{\"kind\":9,\"b\":2},{\"rest\":\"08000304\"}]")), Field("after", .integer(5)),
            ])
        #expect(try side.encode(fields, body: []) == bytes)
    }

    /// Random bytes: nothing is lost, and no segmentation changes anything.
    @Test func noiseAddsUp() throws {
        let side = try format(Self.everything).directions.fromClient
        var values = Values(generator: SeededGenerator(seed: UInt64.random(in: 0...UInt64.max)))
        for _ in 0..<60 {
            var stream: [UInt8] = []
            for _ in 0..<values.number(1...4) {
                stream += (0..<values.number(0...60)).map { _ in UInt8(values.number(0...255)) }
                stream += try side.encode(values.fields(), body: [1])
            }
            if values.number(0...1) == 1 { stream[values.number(0...stream.count - 1)] ^= 0x55 }
            let whole = frame([.bytes(stream)], with: side.rule)
            #expect(whole.counts.framed + whole.counts.unframed == stream.count)
            let bytewise = frame(stream.map { .bytes([$0]) }, with: side.rule)
            #expect(bytewise.log.results == whole.log.results, "\(hex(stream))")
        }
    }
}
