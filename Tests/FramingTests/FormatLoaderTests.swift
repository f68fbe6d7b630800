import Framing
import Streams
import Testing

@Suite struct FormatLoaderTests {
    @Test func everyBuiltInFormatLoads() throws {
        #expect(try BuiltInFormats.all().map(\.name) == BuiltInFormats.names)
    }

    private func faults(_ yaml: String) -> [String] {
        do throws(FormatFileError) {
            _ = try FormatLoader.load(yaml, file: "mine.yaml")
            return []
        } catch {
            return error.faults.map(\.description)
        }
    }

    @Test func allFaultsOfAFileAreSaidWithTheirPlaces() {
        let said = faults(
            """
            format: Mine
            sumary: a slip
            ports: [0, 80]
            framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size, limit: 0 }
            heartbeat: { when: type startsWith, from: me, every: 1 parsec }
            """)
        #expect(said.contains { $0.hasPrefix("1:9: the format's name Mine") })
        #expect(said.contains { $0 == "2:1: unknown key sumary in the format; did you mean summary?" })
        #expect(said.contains { $0.hasPrefix("3:9: port 0") })
        #expect(said.contains { $0.hasPrefix("4:78: framing.limit is 0") }, "\(said)")
        #expect(said.contains { $0.hasPrefix("5:35: heartbeat.when: expected ") }, "\(said)")
        #expect(said.contains { $0.hasPrefix("5:54: heartbeat.every is 1 parsec") }, "\(said)")
        #expect(said.count == Set(said).count)
        #expect(said.contains { $0.hasPrefix("5:43: heartbeat.from is me; expected client or server") }, "\(said)")
    }

    /// A number of digits that is too large is one fault, not two.
    @Test func digitsAreOneFault() {
        let said = faults(
            "format: x\nframing: { rule: fields }\nheader: [{ a: { type: decimal, digits: 20 } }]")
        #expect(said.count == 1, "\(said)")
    }

    @Test(arguments: [
        ("", "1:1: the file is empty"),
        ("- a", "1:1: the format should be a mapping"),
        (
            "format: x\nframing: { rule: hat-and-body }",
            "there is no framing rule hat-and-body; did you mean head-and-body?"
        ),
        ("format: x\nframing: { rule: head-and-body, head: json, size: n }", "lacks ends"),
        ("format: x", "lacks framing"),
        ("format: [\n", "not YAML"),
        ("format: x\nformat: y", "twice"),
        ("format: x\nsecret: bodi.password", "2:9: secret: bodi.password is no secret's place"),
        ("format: x\nsecret: [fields]", "secret: fields is no secret's place"),
        ("format: x\nsecret: [{ value: body.a, wen: type == 1 }]", "unknown key wen"),
        ("format: x\nsecret: [{ value: body.a, when: tipe == 1 }]", "there is no value tipe; did you mean type?"),
        (
            "format: x\nsecret: [{ value: body.a, when: type == PUBLISH }]",
            "fields, body; text stands in quotes: \"PUBLISH\""
        ),
        (
            "format: x\nsecret: body.jsn.password",
            "secret: body.jsn.password: jsn is no form of a body; did you mean body.json.password?"
        ),
        ("format: x\nsecret: [{ value: body.a, when: body.josn.a == 1 }]", "did you mean body.json.a?"),
        (
            "format: x\nparameters: { size: 1 }\ndetect: { evidence: e, alsoWith: { sise: 2 } }",
            "3:36: the format has no parameter sise; did you mean size?"
        ),
        ("format: x\nsecret: [[body.a]]", "secret should list text or { value"),
        ("format: x\nframing: { rule: delimiter, end: [] }", "end is an empty list"),
        ("format: x\nframing: { rule: chunk }\nstates: {}", "states has none; expected a state"),
        ("format: x\nframing: { rule: chunk }\noneOf: []", "oneOf has no kinds of frames"),
        ("format: x\nframing: { rule: chunk }\nalternatives: []", "alternatives has none"),
        ("format: x\nframing: { rule: fields }\nheader: [{ words: [a], ends: [] }]", "ends is an empty list"),
        ("format: x\nframing: { rule: fields }\nheader: [{ a: { type: string, ends: [] } }]", "ends is an empty list"),
        ("format: x\nframing: { rule: fields }\nheader: [{ words: [], ends: \"\\n\" }]", "words is an empty list"),
        (
            "format: x\nframing: { rule: fields }\nheader: [{ a: { type: u8, equals: [1, x] } }]",
            "equals: a is \"x\"; expected a number"
        ),
        (
            "format: x\nframing: { rule: fields }\nheader: [{ a: { type: u8, equals: 1..300 } }]",
            "equals: a is 300; expected a number that fits 1"
        ),
        (
            "format: x\nframing: { rule: fields }\nheader: [{ a: { type: u8, names: { 300: b } } }]",
            "names: a is 300; expected a number that fits 1"
        ),
        (
            "format: x\nframing: { rule: fields }\nheader: [{ a: { type: u8, bits: { 0: b } } }, { b: u8 }]",
            "header has the field b twice"
        ),
        (
            "format: x\nframing: { rule: fields }\nheader: [{ a: { type: u8, bits: { 0: a } } }]",
            "the field a has the name a twice"
        ),
        (
            "format: x\nframing: { rule: fields }\nheader: [{ a: { type: decimal, digits: 20 } }]",
            "digits is 20; expected a whole number from 1 to 18"
        ),
        (
            "format: x\nframing: { rule: fields }\nheader: [{ a: { repeat: u8, of: [{ c: { type: u8, checksum: sum8 } }] } }]",
            "a checksum can only be"
        ),
        (
            "format: x\nframing: { rule: chunk }\nbody: { fields: [{ c: { type: u8, checksum: sum8 } }] }",
            "a checksum can only be"
        ),
        (
            "format: x\nheader: [{ flags: { type: u8, bits: { 0-3: n } } }]\nframing: { rule: length-field, field: n }",
            "n is some of the bits of flags"
        ),
        (
            "format: x\nframing: { rule: escaped, end: 0xc0, escape: 0xc0 }",
            "end and escape are the same byte; expected different ones"
        ),
        (
            "format: x\nheader: [{ n: u8 }, { token: { type: string, size: 2 } }]\nframing: { rule: length-field, field: n }\nsecret: fields.tokne",
            "hides nothing: there is no field tokne; did you mean token?"
        ),
        (
            "format: x\nheader: [{ n: u8 }, { token: { type: string, size: 2 } }]\nframing: { rule: length-field, field: n }\nsecret: \"fields.n[0]\"",
            "hides nothing: the field n is one value, with nothing inside"
        ),
        (
            "format: x\nheader: [{ n: u8 }, { token: { type: string, size: 2 } }]\nframing: { rule: length-field, field: n }\nsecret: body.a",
            "hides nothing: bodies are hex"
        ),
        (
            "format: x\nheader: [{ n: u8 }, { token: { type: string, size: 2 } }]\nframing: { rule: length-field, field: n }\nbody: json\nsecret: body.fields.a",
            "hides nothing: bodies are json"
        ),
        (
            "format: x\nheader: [{ n: u8 }, { token: { type: string, size: 2 } }]\nframing: { rule: length-field, field: n }\nframe: { type: token }\nsecret: fields.token",
            "names the frames' type, which is always shown"
        ),
    ])
    func faultsAreSaid(yaml: String, part: String) {
        let said = faults(yaml)
        #expect(said.contains { $0.contains(part) }, "\(said)")
    }

    /// A file is checked with the values of `detect.alsoWith`, too.
    @Test func aVariantIsChecked() throws {
        func load(_ order: String) throws {
            _ = try FormatLoader.loadWithWarnings(
                """
                format: x
                parameters: { order: big }
                byteOrder: $order
                detect: { evidence: e, alsoWith: { order: \(order) } }
                header: [{ n: u16 }]
                framing: { rule: length-field, field: n }
                """, file: "mine.yaml")
        }
        try load("little")
        let error = #expect(throws: FormatFileError.self) { try load("litle") }
        let said = "\(try #require(error))"
        #expect(
            said.hasPrefix("mine.yaml:3:12: byteOrder is litle") && said.hasSuffix("(with detect.alsoWith)"), "\(said)")
    }

    /// What nearly is a form of a body is refused, since no frame would have it; other names are those of members.
    @Test(arguments: [
        ("jsn.a", true), ("josn.a.b", true), ("protobuff.1", true), ("field.a", true), ("json.field.a", false),
        ("field", false), ("friends.a", false), ("join.a", false), ("test.a", false), ("text", false),
    ])
    func misspeltFormsOfBodiesAreRefused(path: String, isRefused: Bool) throws {
        let path = ["body"] + path.split(separator: ".").map(String.init)
        #expect((FrameValues.complaint(about: path) != nil) == isRefused)
        #expect((FrameValues.complaint(about: path, inTrace: true) != nil) == isRefused)
    }

    /// A format that differs from one server to another is tried with the other values as well.
    @Test func aVariantIsTheFormatWithOtherParameters() throws {
        let all = try BuiltInFormats.allWithVariants()
        #expect(all.filter(\.variant.isEmpty).map(\.name) == BuiltInFormats.names)
        let variant = try #require(all.first { !$0.variant.isEmpty })
        #expect(variant.name == "len16-id" && variant.label == "len16-id:byteOrder=little")
        let bytes = try variant.directions.fromClient.encode(
            [Field("id", .integer(3)), Field("flag", .integer(0))], body: [8, 1])
        #expect(bytes == [5, 0, 3, 0, 0, 8, 1])
    }

    @Test(arguments: ["size: n, until: \"x\"", "until: \"x\", most: 4"]) func aBodyEndsInOneWay(keys: String) {
        let yaml = "format: x\nheader: [{ n: u8 }]\nframing: { rule: fields, body: { \(keys) } }"
        let error = #expect(throws: FormatFileError.self) { try FormatLoader.load(yaml, file: "x.yaml") }
        #expect(error.map { "\($0)".contains("a body ends in one way") } == true)
    }
}
