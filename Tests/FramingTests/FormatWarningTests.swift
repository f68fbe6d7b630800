import Framing
import Testing

/// The warnings of `formats check`: constructs that are allowed in a format file, but mostly unintended.
@Suite struct FormatWarningTests {
    private func warnings(_ yaml: String) throws -> [String] {
        try FormatLoader.loadWithWarnings("format: x\n" + yaml, file: "x.yaml").warnings.map {
            "\($0.line):\($0.column) \($0.message)"
        }
    }

    private static let head =
        "header: [{ n: u16 }, { t: u8 }]\nframing: { rule: length-field, field: n, counts: rest }\n"
    private static let byType = "body: { byType: { 1: json }, else: raw }\n"

    @Test func bodiesByTypeNeedTypes() throws {
        let found = try warnings(Self.head + Self.byType)
        #expect(found.count == 1)
        #expect(
            found.first?.hasPrefix("4:7 body.byType goes by the frames' types, and they have none") == true, "\(found)")
        #expect(try warnings(Self.head + Self.byType + "frame: { type: t }").isEmpty)
        // Kinds with names are types, too.
        let kinds = "oneOf: [{ name: a, header: [{ n: u16 }, { t: { type: u8, equals: 1 } }] }]\n"
        let framing = "framing: { rule: length-field, field: n, counts: rest }\n"
        #expect(try warnings(framing + kinds + "body: { byType: { a: json }, else: raw }").isEmpty)
    }

    @Test func aKindWithAFramingMeansAHeader() throws {
        let found = try warnings(
            Self.head + "oneOf:\n- { name: a, framing: { rule: fixed, size: 3 } }\n- { name: b }\n")
        #expect(found.count == 1)
        #expect(found.first?.contains("has a framing and no header of its own") == true, "\(found)")
        #expect(found.first?.hasPrefix("5:3 ") == true, "\(found)")
        let own = "oneOf:\n- { name: a, header: [], framing: { rule: fixed, size: 3 } }\n- { name: b }\n"
        #expect(try warnings(Self.head + own).isEmpty)
    }

    /// Escapes are read in double quotes only.
    @Test(arguments: [
        ("framing: { rule: delimiter, end: '\\r\\n' }", true), ("framing: { rule: delimiter, end: \\n }", true),
        ("framing: { rule: delimiter, end: [\"\\n\", '\\x00'] }", true),
        ("framing: { rule: delimiter, end: \"\\r\\n\" }", false), ("framing: { rule: delimiter, end: '\\w' }", false),
        ("framing: { rule: delimiter, end: \"\\\\r\" }", false), ("framing: { rule: delimiter, end: 0x0d0a }", false),
        ("header: ['\\n', { a: u8 }]\nframing: { rule: fields }", true),
        ("header: [{ a: { type: string, ends: '\\0' } }]\nframing: { rule: fields }", true),
        ("header: [{ literal: '\\n' }, { a: u8 }]\nframing: { rule: fields }", true),
        ("header: [\"\\n\", { a: { type: string, ends: \"\\0\" } }]\nframing: { rule: fields }", false),
    ]) func escapesNeedDoubleQuotes(yaml: String, isWarned: Bool) throws {
        let found = try warnings(yaml)
        #expect(found.count == (isWarned ? 1 : 0), "\(found)")
        #expect(found.allSatisfy { $0.contains("is not in double quotes, so it has no escapes") }, "\(found)")
    }

    @Test func numbersOfASequenceAreNoBytes() throws {
        let bytes = "header: [{ n: u16 }, { b: { type: bytes, size: 2 } }]\nframing: { rule: length-field, field: n }\n"
        let found = try warnings(bytes + "sequence: { value: fields.b }")
        #expect(found.count == 1 && found.first?.contains("b has the type bytes") == true, "\(found)")
        #expect(try warnings(bytes + "sequence: { value: fields.n }").isEmpty)
    }

    /// Types that no frame has, where all of them have names.
    @Test func typesThatAreMisspelled() throws {
        let head =
            "header: [{ n: u16 }, { t: { type: u8, names: { 1: login, 2: text } } }]\n"
            + "framing: { rule: length-field, field: n, counts: rest }\nframe: { type: t }\n"
        func heartbeat(_ when: String) -> String { "heartbeat: { when: '\(when)', from: client, every: 1 s }" }
        for (yaml, word) in [
            ("body: { byType: { logn: json, text: text } }", "logn"), (heartbeat(#"type == "logn""#), "logn"),
            (heartbeat(#"type in {"login", "tex"}"#), "tex"), (heartbeat(#"fields.n == 1 or type != "tex""#), "tex"),
        ] {
            let found = try warnings(head + yaml)
            #expect(found.count == 1, "\(yaml): \(found)")
            #expect(found.first?.contains("no frame has the type \(word); did you mean ") == true, "\(found)")
        }
        for yaml in [
            "body: { byType: { login: json, 7: text } }", heartbeat(#"type == "login""#), heartbeat(#"type == "7""#),
        ] {
            #expect(try warnings(head + yaml).isEmpty, "\(yaml)")
        }
        // A field that is text may have any value.
        let text = head.replacing("type: u8, names: { 1: login, 2: text }", with: "type: string, size: 4")
        #expect(try warnings(text + heartbeat(#"type == "logn""#)).isEmpty)
        // Kinds of a choice may each have a field of that name.
        func choice(_ second: String) -> String {
            "header:\n- kind: u8\n- oneOf:\n  - [{ a: { type: u8, equals: 1 } }, { t: { type: u8, names: { 1: login } } }]\n"
                + "  - [{ b: { type: u8, equals: 2 } }, { t: \(second) }]\n"
                + "framing: { rule: fields }\nframe: { type: t }\n"
        }
        let both = choice("{ type: u8, names: { 2: logout } }")
        #expect(try warnings(both + heartbeat(#"type == "logout""#)).isEmpty)
        #expect(try warnings(both + heartbeat(#"type == "logot""#)).count == 1)
        #expect(try warnings(choice("{ type: string, size: 4 }") + heartbeat(#"type == "logot""#)).isEmpty)
        // The types of either side count for both.
        let sides =
            head.replacing("frame: { type: t }\n", with: "")
            + "client: { frame: { type: t } }\nserver: { frame: { type: [{ is: other }] } }\n"
        #expect(try warnings(sides + heartbeat(#"type in {"other", "login"}"#)).isEmpty)
        #expect(try warnings(sides + heartbeat(#"type == "othr""#)).count == 1)
    }

    @Test func statesThatNothingLeadsTo() throws {
        let states = "framing: { rule: fixed, size: 1 }\nheader: [{ a: u8 }]\nstates: { one: {}, two: {}, three: {} }\n"
        let found = try warnings(states + "transitions: [{ in: one, when: fields.a == 1, to: two }]")
        #expect(found.count == 1 && found.first?.contains("no transition leads to the state three") == true, "\(found)")
        let all = "transitions: [{ when: fields.a == 1, to: two }, { in: two, when: fields.a == 2, to: three }]"
        #expect(try warnings(states + all).isEmpty)
    }
}
