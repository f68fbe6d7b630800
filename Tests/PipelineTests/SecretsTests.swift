import Expressions
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// No secret of a format is in any output, whatever became of the frame that contains it.
@Suite struct SecretsTests {
    private static let secret = "Tr0ub4dor&3"

    /// Bodies of a login, well-formed and not.
    private static let bodies: [[UInt8]] =
        [
            #"{"userId":"1","password":"\#(secret)"}"#,
            #"{"userId":"1","password":["\#(secret)",{"a":"\#(secret)"}]}"#,
            #"{"userId":"1","password":"\#(secret)","#,
            #"{"password":"\#(secret)"} {"#,
            #"password=\#(secret)"#,
        ].map { Array($0.utf8) } + [
            Array(#"{"name":"\#u{1}\#u{2}","password":"\#(secret)"#.utf8),
            [0xff, 0xfe] + Array(#"{"password":"\#(secret)"}"#.utf8),
        ]

    /// All possible output for a conversation.
    private func shown(_ conversation: Conversation, _ format: Format) -> String {
        let outputs = [MemoryOutput(), MemoryOutput()]
        var text = TextOptions()
        text.isVerbose = true
        let decoder = Decoder(
            DecodingOptions(.fixed(format)),
            sinks: [
                NDJSONWriter(to: outputs[0], source: "tests", tool: "tests"), TextWriter(to: outputs[1], options: text),
            ])
        conversation.play(to: decoder)
        decoder.flush()
        return outputs.map(\.text).joined()
    }

    private func isHidden(_ text: String, in shown: String) -> Bool {
        let hex = Base16.encode(Array(text.utf8))
        let spaced = text.utf8.prefix(4).map { String($0, radix: 16) }.joined(separator: " ")
        return !shown.contains(text) && !shown.contains(String(decoding: hex, as: UTF8.self)) && !shown.contains(spaced)
    }

    @Test(arguments: bodies, ["", "00112233445566778899aabbccddeeff"])
    func magicWithAndWithoutKey(body: [UInt8], key: String) throws {
        var format = try builtIn("im-magic")
        if !key.isEmpty {
            try format.use(BodyResources(keys: ["im-magic": Base16.decode(Array(key.utf8).span.bytes)]))
        }
        let head = Array("\u{20}\u{17}\u{8}\u{17}\u{1}\u{1}\u{1}".utf8) + Array("1001".utf8)
        let frame =
            head + [UInt8](repeating: 0, count: 46) + [1, 0, 0, 0, UInt8(body.count)] + body
        let shown = shown(Conversation(frame), format)
        #expect(shown.contains("\"type\":\"login\""), "\(shown)")
        #expect(isHidden(Self.secret, in: shown), "\(shown)")
    }

    /// The bytes of a head are shown unless one of its lines is secret, whatever the case of its name.
    @Test(arguments: ["Authorization", "authorization", "AUTHORIZATION", "Accept"])
    func linesOfAHead(_ name: String) throws {
        let format = try FormatLoader.load(
            """
            format: lines
            header: [{ words: [method, target], ends: "\\r\\n" }, { headers: { lines: ": ", ends: "\\r\\n" } }]
            framing: { rule: fields }
            frame: { type: method }
            secret: [fields.headers.authorization]
            """, file: "lines.yaml")
        let head = "GET /\r\nHost: here\r\n\(name): \(Self.secret)\r\n\r\n"
        let shown = shown(Conversation(Array(head.utf8)), format)
        #expect(shown.contains("\"type\":\"GET\""), "\(shown)")
        #expect(isHidden(Self.secret, in: shown) == (name != "Accept"), "\(shown)")
        // The bytes of `GET `.
        #expect(shown.contains("47 45 54 20") == (name == "Accept"), "\(shown)")
    }

    @Test func sessionOfALoginOnly() throws {
        let format = try builtIn("len16-id")
        func frame(_ id: UInt8) -> [UInt8] {
            let body = [0x0a, 3] + Array("ann".utf8) + [0x12, UInt8(Self.secret.utf8.count)] + Array(Self.secret.utf8)
            return [0, UInt8(body.count + 3), 0, id, 0] + body
        }
        let login = shown(Conversation(frame(1)), format)
        #expect(login.contains(#""protobuf":{"1":"ann","2":"«secret»"}"#), "\(login)")
        #expect(isHidden(Self.secret, in: login), "\(login)")
        #expect(shown(Conversation(frame(3)), format).contains(Self.secret))
    }

    @Test func whatIsEncryptedIsShown() throws {
        let format = try builtIn("im-magic")
        let body: [UInt8] = (0..<32).map { $0 &* 37 &+ 129 }
        let head: [UInt8] = [0x20, 0x17, 0x08, 0x17, 1, 1, 1] + [UInt8](repeating: 0, count: 51) + [0, 0, 0, 32]
        let shown = shown(Conversation(head + body), format)
        #expect(shown.contains("\"hex\":\"\(String(decoding: Base16.encode(body), as: UTF8.self))\""), "\(shown)")
    }

    /// A login in clear text that is cut off, even in a format whose bodies may be encrypted.
    @Test func whatIsCutOffIsHidden() throws {
        let format = try builtIn("im-magic")
        let body = Array(#"{"userId":"1","password":"\#(Self.secret)"}"#.utf8)
        let head = Array("\u{20}\u{17}\u{8}\u{17}\u{1}\u{1}\u{1}".utf8) + Array("1001".utf8)
        let frame = head + [UInt8](repeating: 0, count: 46) + [1, 0, 0, 0, UInt8(body.count)] + body
        for cut in 1...8 {
            let shown = shown(Conversation(Array(frame.dropLast(cut))), format)
            #expect(shown.contains("\"event\":\"unframed\""), "\(shown)")
            let begun = String(Self.secret.prefix(4))
            #expect(isHidden(begun, in: shown), "\(cut) bytes: \(shown)")
        }
    }

    /// The reason why a line is no frame may quote it.
    @Test func whatAReasonQuotesIsHidden() throws {
        func format(_ secret: String) throws -> Format {
            try FormatLoader.load(
                """
                format: login
                header: [{ words: [{ verb: [AUTH, GET] }, user, password], ends: "\\n" }]
                framing: { rule: fields }
                \(secret)
                """, file: "login.yaml")
        }
        let lines = Conversation(Array("AUTH ann two \(Self.secret)\n".utf8))
        #expect(isHidden(Self.secret, in: shown(lines, try format("secret: fields.password"))))
        let open = shown(lines, try format(""))
        #expect(open.contains("the line \\\"AUTH ann two \(Self.secret)\\\" is not"), "\(open)")
    }

    /// Other versions of bytes, and late ones.
    @Test(arguments: ["im-magic", "len16-id", "line"]) func whatIsInNoStreamIsHidden(name: String) throws {
        let format = try builtIn(name)
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        let time = Timestamp(nanoseconds: 0)
        let connection = decoder.open(
            Opening(
                number: 1, time: time, client: Endpoint(IPAddress(v4: 1), 1), server: Endpoint(IPAddress(v4: 2), 2)))
        let secret = Array(Self.secret.utf8)
        let other = [UInt8](repeating: 0x7a, count: secret.count)
        for notice in [StreamNotice.conflict(offset: 0, kept: secret, other: other), .late(offset: 0, bytes: secret)] {
            connection.noticed(notice, from: .fromClient, at: time, packet: 1)
        }
        decoder.finish()
        #expect(output.text.contains("late-data"))
        // The format `line` has no secrets.
        #expect(isHidden(Self.secret, in: output.text) == (name != "line"), "\(output.text)")
    }

    /// A value in a body has a short name, in conditions, too.
    @Test(arguments: ["body.kind", "body.json.kind"]) func aConditionMayNameAValueInShort(path: String) throws {
        let format = try FormatLoader.load(
            """
            format: cond
            framing: { rule: json-sequence }
            body: json
            secret: { value: body.token, when: \(path) == "login" }
            frame: { type: [{ when: \(path) == "login", is: login }, { is: other }] }
            """, file: "cond.yaml")
        let shown = shown(Conversation(Array(#"{"kind":"login","token":"\#(Self.secret)"}"#.utf8)), format)
        #expect(shown.contains("\"type\":\"login\"") && isHidden(Self.secret, in: shown), "\(shown)")
    }

    /// A condition selects by what is shown: otherwise it would tell, one guess after the other, what is hidden.
    @Test(arguments: [
        (#"body.json.password startsWith "Tr""#, false), (#"body.password contains "Tr""#, false),
        (#"body.text contains "Tr""#, false), (#"body.json.password == "«secret»""#, true),
        (#"body.json.userId == "1""#, true), (#"type == "login""#, true),
    ]) func conditionsFindNoSecretsInBodies(condition: String, isFound: Bool) throws {
        var format = try builtIn("im-magic")
        let body = Array(#"{"userId":"1","password":"\#(Self.secret)"}"#.utf8)
        let head = Array("\u{20}\u{17}\u{8}\u{17}\u{1}\u{1}\u{1}".utf8) + Array("1001".utf8)
        let frame = head + [UInt8](repeating: 0, count: 46) + [1, 0, 0, 0, UInt8(body.count)] + body
        #expect(try selects(condition, frame, format) == isFound)
        // With --show-secrets.
        format.secrets = []
        #expect(try selects(#"body.json.password startsWith "Tr""#, frame, format))
    }

    @Test(arguments: [
        (#"fields.headers.authorization startsWith "Tr""#, false),
        (#"fields.headers.Authorization startsWith "Tr""#, false),
        (#"fields.headers.host == "here""#, true), (#"fields.method == "GET""#, true),
    ]) func conditionsFindNoSecretsInFields(condition: String, isFound: Bool) throws {
        var format = try FormatLoader.load(
            """
            format: lines
            header: [{ words: [method, target], ends: "\\r\\n" }, { headers: { lines: ": ", ends: "\\r\\n" } }]
            framing: { rule: fields }
            secret: [fields.headers.authorization]
            """, file: "lines.yaml")
        let head = Array("GET /\r\nHost: here\r\nAuthorization: \(Self.secret)\r\n\r\n".utf8)
        #expect(try selects(condition, head, format) == isFound)
        format.secrets = []
        #expect(try selects(#"fields.headers.authorization startsWith "Tr""#, head, format))
    }

    /// Whether `--filter` shows a frame of a conversation.
    private func selects(_ condition: String, _ bytes: [UInt8], _ format: Format) throws -> Bool {
        var selection = Selection()
        selection.condition = try Expression(parsing: condition) { FrameValues.complaint(about: $0, inTrace: true) }
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output, source: "tests", tool: "tests")
        let decoder = Decoder(DecodingOptions(.fixed(format)), sinks: [SelectingSink(selection, to: writer)])
        Conversation(bytes).play(to: decoder)
        decoder.flush()
        return output.text.contains(#""event":"frame""#)
    }

    /// Bits, what is computed, and what findings tell of a secret.
    @Test(arguments: [("pin", true), ("lo", false)]) func copiesOfASecretAreHidden(name: String, hidesAll: Bool) throws
    {
        let format = try FormatLoader.load(
            """
            format: pin
            header:
              - length: u8
              - pin: { type: u16, bits: { 0-7: lo, 8-15: hi } }
              - copy: { value: pin + 1 }
              - again: { value: copy * 2 }
            framing: { rule: fields, body: length }
            secret: fields.\(name)
            sequence: { value: fields.pin }
            """, file: "pin.yaml")
        let shown = shown(Conversation([0, 0x12, 0x34, 0, 0x12, 0x38]), format)
        #expect(shown.contains("sequence gap: 3 numbers left out"), "\(shown)")
        for number in [4660, 4661, 4664, 4665, 9322, 9330] { #expect(!shown.contains("\(number)"), "\(shown)") }
        #expect(!shown.contains("\"lo\":52"), "\(shown)")
        #expect(shown.contains("\"hi\":18") == !hidesAll, "\(shown)")
    }

    /// A wrong checksum, and a request without an answer.
    @Test func findingsDoNotShowSecrets() throws {
        let hash = try FormatLoader.load(
            """
            format: hash
            header: [{ length: u8 }, { token: { type: bytes, size: 8, checksum: md5 } }]
            framing: { rule: length-field, field: length }
            secret: fields.token
            """, file: "hash.yaml")
        let wrong = shown(Conversation([0] + Array("8characs".utf8)), hash)
        #expect(wrong.contains("bad checksum: token does not match"), "\(wrong)")
        #expect(isHidden("8characs", in: wrong) && !wrong.contains("expected 0x"), "\(wrong)")

        let ask = try FormatLoader.load(
            """
            format: ask
            header: [{ length: u8 }, { id: { type: string, size: 8 } }]
            framing: { rule: length-field, field: length }
            secret: fields.id
            pairs: [{ request: length > 0, from: client, answer: length > 0, by: fields.id }]
            """, file: "ask.yaml")
        let open = shown(Conversation([0] + Array("8characs".utf8)), ask)
        #expect(open.contains("not answered") && isHidden("8characs", in: open), "\(open)")

        // Another value of the body is shown.
        let json = try FormatLoader.load(
            """
            format: json
            framing: { rule: json-sequence }
            body: json
            secret: body.json.password
            pairs: [{ request: length > 0, from: client, answer: length > 0, by: body.id }]
            """, file: "json.yaml")
        let other = shown(Conversation(Array(#"{"id":"8characs","password":"\#(Self.secret)"}"#.utf8)), json)
        #expect(other.contains("with id 8characs") && isHidden(Self.secret, in: other), "\(other)")

        let bySecret = try FormatLoader.load(
            """
            format: by-secret
            framing: { rule: json-sequence }
            body: json
            secret: body.json.password
            pairs: [{ request: length > 0, from: client, answer: length > 0, by: body.password }]
            """, file: "by-secret.yaml")
        let unanswered = shown(Conversation(Array(#"{"id":"8characs","password":"\#(Self.secret)"}"#.utf8)), bySecret)
        #expect(unanswered.contains("not answered") && isHidden(Self.secret, in: unanswered), "\(unanswered)")

        // An id is shown in at most 40 columns, and none of its controls reaches a terminal.
        let long = String(repeating: "\\u001b[31m", count: 100)
        let text = shown(Conversation(Array(#"{"id":"\#(long)","password":"\#(Self.secret)"}"#.utf8)), json)
        let finding = text.split(separator: "\n").first { $0.contains("with id ") }.map(String.init) ?? ""
        #expect(finding.contains("not answered") && finding.count < 400 && !finding.contains("\u{1b}"), "\(finding)")
    }

    /// All elements of a list whose member has a value.
    @Test func elementsAreHiddenByAMember() throws {
        let format = try FormatLoader.load(
            """
            format: tags
            header: [{ items: { repeat: u8, of: [{ tag: u8 }, { value: { type: string, size: u8 } }] } }]
            framing: { rule: fields }
            secret: "fields.items[tag=9].value"
            """, file: "tags.yaml")
        func item(_ tag: UInt8, _ text: String) -> [UInt8] { [tag, UInt8(text.utf8.count)] + Array(text.utf8) }
        let items = item(9, Self.secret) + item(8, "open") + item(9, Self.secret)
        let shown = shown(Conversation([3] + items), format)
        let expected = #"[{"tag":9,"value":"«secret»"},{"tag":8,"value":"open"},{"tag":9,"value":"«secret»"}]"#
        #expect(shown.contains(expected), "\(shown)")
        #expect(isHidden(Self.secret, in: shown), "\(shown)")
    }

    /// Formats whose frames hold a secret, and a frame in which only so much of it is as fits.
    private static let misfits: [(yaml: String, frame: @Sendable ([UInt8]) -> [UInt8])] = [
        // What is left of an item with a size.
        (
            #"""
            header: [{ kind: u8 }, { auth: { size: u8, fields: [{ user: { type: string, ends: "\0" } }, { password: { type: string, ends: "\0" } }] } }]
            framing: { rule: fields }
            secret: [fields.auth.password]
            """#, { [1, UInt8(4 + $0.count)] + Array("ann\0".utf8) + $0 }
        ),
        // Without a name.
        (
            #"""
            header: [{ size: u8, fields: [{ user: { type: string, ends: "\0" } }, { password: { type: string, ends: "\0" } }] }]
            framing: { rule: fields }
            secret: [fields.password]
            """#, { [UInt8(4 + $0.count)] + Array("ann\0".utf8) + $0 }
        ),
        // In an element of a list.
        (
            """
            header: [{ n: u8 }]
            framing: { rule: length-field, field: n }
            body: { fields: [{ users: { repeat: u8, size: u8, of: [{ user: { type: string, size: u8 } }, { password: { type: string, size: u8 } }] } }, { more: u8 }] }
            secret: ["body.users[0].password"]
            """,
            { [UInt8(14 + $0.count), UInt8(12 + $0.count), 2, 3, 97, 110, 110, 1, 120, 3, 98, 111, 98, 99] + $0 + [0] }
        ),
        // A body in a field, and in a list of nothing else.
        (
            """
            header: [{ kind: u8 }, { meta: { body: json, size: u8 } }]
            framing: { rule: fields }
            secret: [fields.meta.pw]
            """, { [1, UInt8(7 + $0.count)] + Array("{\"pw\":\"".utf8) + $0 }
        ),
        (
            """
            header: [{ metas: { repeat: u8, of: [{ meta: { body: json, size: u8 } }] } }]
            framing: { rule: fields }
            secret: ["fields.metas[*].pw"]
            """, { [1, UInt8(7 + $0.count)] + Array("{\"pw\":\"".utf8) + $0 }
        ),
        // Bytes of no frame inside, and a body inside.
        (
            """
            header: [{ n: u8 }]
            framing: { rule: length-field, field: n }
            formats: { in: { header: [{ k: u8 }, { pw: { type: string, size: 11 } }], framing: { rule: fixed, size: 12 }, body: text } }
            body: { format: { name: in } }
            secret: ["body.json[0].fields.pw"]
            """, { [UInt8(1 + $0.count), 1] + $0 }
        ),
        (
            """
            header: [{ n: u8 }]
            framing: { rule: length-field, field: n }
            formats: { in: { header: [{ k: u8 }], framing: { rule: length-field, field: k }, body: json } }
            body: { format: { name: in } }
            secret: ["body.json[*].body.json.pw"]
            """, { [UInt8(8 + $0.count), UInt8(7 + $0.count)] + Array("{\"pw\":\"".utf8) + $0 }
        ),
    ]

    /// Whatever is around the bytes of a secret, and however many of them there are, they are not shown.
    @Test(arguments: misfits.indices) func whatDoesNotFitIsHidden(index: Int) throws {
        let (yaml, frame) = Self.misfits[index]
        let format = try FormatLoader.load("format: misfit\n\(yaml)", file: "misfit.yaml")
        for count in 4..<Self.secret.utf8.count {
            let shown = shown(Conversation(frame(Array(Self.secret.utf8.prefix(count)))), format)
            #expect(shown.contains("\"event\":\"frame\"") && shown.contains(JSONRedaction.mark), "\(shown)")
            #expect(isHidden(String(Self.secret.prefix(4)), in: shown), "\(count) bytes: \(shown)")
        }
    }

    /// Text beside a secret element is no body that could not be read.
    @Test func otherElementsAreShown() throws {
        let format = try FormatLoader.load(
            """
            format: args
            header: [{ args: { repeat: u8, of: [{ arg: { type: string, size: u8 } }] } }]
            framing: { rule: fields }
            secret: ["fields.args[1]"]
            """, file: "args.yaml")
        func arg(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
        let shown = shown(Conversation([3] + arg("open") + arg(Self.secret) + arg("too")), format)
        #expect(shown.contains(#""args":["open","«secret»","too"]"#), "\(shown)")
        #expect(isHidden(Self.secret, in: shown), "\(shown)")
    }

    /// What did not fit is hidden where bodies are structures, and nothing is hidden of the same name in others.
    @Test func onlyStructuresHaveLeftovers() throws {
        let format = try FormatLoader.load(
            """
            format: sides
            header: [{ n: u8 }]
            framing: { rule: length-field, field: n }
            client: { body: json }
            server: { body: { fields: [{ user: { type: string, ends: "\\0" } }, { password: { type: string, ends: "\\0" } }] } }
            secret: [body.password]
            """, file: "sides.yaml")
        let body = #"{"rest":3,"raw":"x","unframed":"y","password":"\#(Self.secret)"}"#
        let shown = shown(Conversation([UInt8(body.utf8.count)] + Array(body.utf8)), format)
        #expect(
            shown.contains(#""json":{"rest":3,"raw":"x","unframed":"y","password":"«secret»"}"#), "\(shown)")
    }

    @Test(arguments: ["body.users[*].password", "body.users.password", "body.json.users[*].password"])
    func allElementsOfAListAreHidden(path: String) throws {
        let format = try FormatLoader.load(
            """
            format: json
            framing: { rule: json-sequence }
            body: json
            secret: ["\(path)"]
            """, file: "json.yaml")
        let body = #"{"users":[{"user":"ann","password":"\#(Self.secret)"},{"password":"\#(Self.secret)"}]}"#
        let shown = shown(Conversation(Array(body.utf8)), format)
        #expect(
            shown.contains(#"{"users":[{"user":"ann","password":"«secret»"},{"password":"«secret»"}]}"#), "\(shown)")
        #expect(isHidden(Self.secret, in: shown), "\(shown)")
    }

    private func builtIn(_ name: String) throws -> Format {
        try #require(try BuiltInFormats.format(named: name))
    }
}
