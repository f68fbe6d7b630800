import Framing
import Streams
import Testing

/// Frames that are built are read as they were given, or not built.
@Suite struct VerifiedFrameTests {
    private static let words = """
        header: [{ words: [{ verb: [PUB, SUB] }, subject, "reply?", { size: decimal }], ends: "\\r\\n" }]
        framing: { rule: fields, body: size, ends: "\\r\\n" }
        """
    private static let lines = """
        header: [{ words: [method], ends: "\\r\\n" }, { headers: { lines: ": ", ends: "\\r\\n" } }]
        framing: { rule: fields, body: [{ when: 'headers["content-length"] exists', size: 'headers["content-length"]' }] }
        """
    private static let strings = """
        header:
          - path: { type: string, ends: "," }
          - name: { type: string, size: 4, padding: 0x20 }
          - flags: { type: u8, bits: { 0: hasKey } }
          - key: { type: u16, when: hasKey == 1 }
          - kind: { type: u8, equals: [1, 3..5] }
          - count: u8
          - pairs: { until: "\\0", of: [{ key: { type: string, ends: "=" } }, { value: { type: string, ends: ";" } }] }
        framing: { rule: fields, body: count }
        """

    private func side(_ yaml: String) throws -> DirectionFormat {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
    }

    private func fields(_ object: String) throws -> [Field] {
        guard case .object(let members) = try JSONValue(parsing: Array(object.utf8).span.bytes) else { return [] }
        return members.map { Field($0.name, $0.value.scalar ?? .json($0.value.compactText)) }
    }

    /// What would be read as something else is named.
    @Test(arguments: [
        (words, #"{"verb":"PUB","subject":"a b"}"#, "subject"), (words, #"{"verb":"PUB","subject":""}"#, "subject"),
        (words, #"{"verb":"PUB"}"#, "subject"), (words, #"{"verb":"FOO","subject":"a"}"#, "verb"),
        (lines, #"{"method":"G","headers":{"A":"b\r\nC: d"}}"#, "headers"),
        (lines, #"{"method":"G","headers":{"A\r\nB":"c"}}"#, "headers"),
        (lines, #"{"method":"G","headers":{"A:B":"c"}}"#, "headers"),
        (lines, #"{"method":"G","headers":{"":"c"}}"#, "headers"),
        (lines, #"{"method":"G","headers":{"A":"b\r\n\r\nG\r\n"}}"#, "headers"),
        (strings, #"{"path":"x,y","kind":1}"#, "path"), (strings, #"{"path":"x","key":5,"kind":1}"#, "key"),
        (strings, #"{"path":"x","kind":2}"#, "kind"),
        (strings, #"{"path":"x","kind":1,"pairs":[{"key":"a","value":"b;c=d"}]}"#, "pairs"),
        (strings, #"{"path":"x","kind":1,"pairs":[{"key":"a=b","value":"c"}]}"#, "pairs"),
        (strings, #"{"path":"x","kind":1,"pairs":[{"key":"\u0000","value":"b"}]}"#, "pairs"),
    ])
    func otherValuesAreNamed(yaml: String, given: String, name: String) throws {
        let side = try side(yaml)
        let fields = try fields(given)
        do {
            let bytes = try side.encode(fields, body: [])
            Issue.record("\(given): \(bytes)")
        } catch {
            #expect("\(error)".contains(name), "\(given): \(error)")
        }
    }

    /// However many values are not given as they are read, none may be another one.
    @Test(arguments: [10, 63, 64, 65, 200]) func allDifferencesAreCompared(count: Int) throws {
        let side = try side(Self.lines)
        func encode(_ value: JSONValue, _ last: String) throws -> [UInt8] {
            let lines = (0..<count).map { ("H\($0)", value) } + [("last", .text(last))]
            let headers = Field("headers", .json(JSONValue.members(lines).compactText))
            return try side.encode([Field("method", .text("G")), headers], body: [])
        }
        let head = Array("G\r\nH0: 5\r\n".utf8)
        // Numbers are the same text. A list of one value is compared by building the frame.
        #expect(try encode(.number("5"), "x").starts(with: head))
        if count < 64 { #expect(try encode(.array([.text("5")]), "x").starts(with: head)) }
        for value in [JSONValue.number("5"), .array([.text("5")])] {
            #expect(throws: EncodingError.self) { try encode(value, "x\r\nEvil: y") }
        }
    }

    /// What is wrong can be said without the values, which may be secret.
    @Test(
        arguments: [
            ("header: [{ a: u8 }]\nframing: { rule: fixed, size: 1 }", "a", .integer(4711)),
            ("header: [{ a: { type: string, size: 2 } }]\nframing: { rule: fixed, size: 2 }", "a", .text("4711")),
            ("header: [{ b: { type: u8, bits: { 0-3: a } } }]\nframing: { rule: fixed, size: 1 }", "a", .integer(4711)),
            ("header: [{ a: u8 }]\nframing: { rule: fields }", "a", .integer(4711)),
            ("framing: { rule: delimiter, end: [\"\\r\\n\", \"\\n\"] }", "end", .text("4711")),
        ] as [(String, String, FieldValue)])
    func faultsHideValues(yaml: String, name: String, value: FieldValue) throws {
        let side = try side(yaml)
        let error = #expect(throws: EncodingError.self) { try side.encode([Field(name, value)], body: []) }
        #expect(error?.description.contains("4711") == true, "\(String(describing: error))")
        #expect(error?.withoutValues.contains("4711") == false, "\(String(describing: error))")
    }

    /// What follows from other values may be given wrong, and names, padding and digits may be given as they are written elsewhere.
    @Test(arguments: [
        (words, #"{"verb":"PUB","subject":"a","size":9}"#, "PUB a 2\r\nhi\r\n"),
        (
            lines, #"{"method":"G","headers":{"Content-Length":9,"A":["b"]}}"#,
            "G\r\nContent-Length: 2\r\nA: b\r\n\r\nhi"
        ),
        (strings, #"{"path":"x","name":"ab ","count":9,"kind":1}"#, "x,ab  \0\u{1}\u{2}\0hi"),
    ])
    func whatFollowsIsNotCompared(yaml: String, given: String, frame: String) throws {
        let bytes = try side(yaml).encode(try fields(given), body: Array("hi".utf8))
        #expect(bytes == Array(frame.utf8), "\(given): \(bytes)")
    }

    /// A replaced value, too.
    @Test func editsAreVerified() throws {
        let side = try side(Self.lines)
        let bytes = Array("G\r\nX: 1\r\n\r\n".utf8)
        let shape = FrameShape(head: bytes.count, body: 0)
        func edit(_ object: String) throws -> [UInt8] {
            try side.edit(bytes.span.bytes, shape, changes: try fields(object), body: nil, isRaw: false)
        }
        #expect(try edit(#"{"headers":{"X":"2"}}"#).starts(with: Array("G\r\nX: 2\r\n".utf8)))
        #expect(throws: EncodingError.self) { try edit(#"{"headers":{"X":"1\r\nEvil: 2"}}"#) }
        #expect(throws: EncodingError.self) { try edit(#"{"method":"A B"}"#) }
    }

    /// Of a kind that has all the names, it is said which value it cannot have.
    @Test func theKindWithTheNamesIsMeant() throws {
        let side = try side(
            """
            framing: { rule: fields }
            oneOf:
              - { name: info, header: [{ words: [{ verb: [INFO] }, text], ends: "\\n" }] }
              - { name: sub, header: [{ words: [{ verb: [SUB] }, subject, id], ends: "\\n" }] }
            """)
        do {
            let bytes = try side.encode(try fields(#"{"verb":"SUB","subject":"a b","id":"1"}"#), body: [])
            Issue.record("\(bytes)")
        } catch {
            #expect("\(error)".contains("subject"), "\(error)")
        }
    }

    /// A delimiter that would begin in the body.
    @Test func theBodyIsVerified() throws {
        let side = try side("framing: { rule: delimiter, end: [\"\\r\\n\", \"\\n\"] }")
        #expect(throws: EncodingError.self) { try side.encode([], body: Array("a\r".utf8)) }
        #expect(try side.encode([Field("end", .text("\r\n"))], body: Array("a".utf8)) == Array("a\r\n".utf8))
    }

    /// Whatever texts are given: each is read again, or the frame is not built.
    @Test(arguments: [11, UInt64.random(in: 0...UInt64.max)]) func whatIsBuiltIsRead(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let letters = Array("ab \r\n:,;=\0\"")
        func text() -> String {
            String(
                (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                    letters.randomElement(using: &generator) ?? "a"
                })
        }
        var built = 0
        for round in 0..<600 {
            let side = try side([Self.words, Self.lines, Self.strings][round % 3])
            let given: [Field]
            switch round % 3 {
            case 0:
                given = [Field("verb", .text("SUB")), Field("subject", .text(text())), Field("reply", .text(text()))]
            case 1:
                let headers = JSONValue.members([(text(), .text(text())), ("x" + text(), .text(text()))])
                given = [Field("method", .text(text())), Field("headers", .json(headers.compactText))]
            default:
                let pairs = JSONValue.array([.members([("key", .text(text())), ("value", .text(text()))])])
                given = [
                    Field("path", .text(text())), Field("kind", .integer(3)), Field("pairs", .json(pairs.compactText)),
                ]
            }
            guard let bytes = try? side.encode(given, body: []) else { continue }
            built += 1
            let log = frame([.bytes(bytes)], with: side.rule).log
            guard case .frame(_, 0, let shape, 0, _)? = log.results.first, log.results.count == 1 else {
                Issue.record("\(given): \(log.results), seed \(seed)")
                continue
            }
            let read = side.fields(of: bytes.span.bytes, shape)
            for field in given where field.name != "headers" {
                #expect(read.first { $0.name == field.name }?.value == field.value, "\(given), seed \(seed)")
            }
            guard let headers = given.first(where: { $0.name == "headers" }) else { continue }
            let found = read.first { $0.name == "headers" }.map { JSONValue($0.value) }
            guard case .object(let members) = JSONValue(headers.value) else { continue }
            for member in members where members.count(where: { $0.name == member.name }) == 1 {
                #expect(found?[member.name] == member.value, "\(given), seed \(seed)")
            }
        }
        #expect(built > 20, "seed \(seed)")
    }
}
