import Expressions
import Framing
import Testing

/// Conditions that hold for no frame, as far as formats say: mostly misspelled.
@Suite struct ConditionCheckTests {
    private func format(_ yaml: String) throws -> Format { try FormatLoader.load("format: x\n" + yaml, file: "x") }

    private func complaints(_ condition: String, _ formats: [Format]) throws -> [String] {
        ConditionCheck.complaints(about: try Expression(parsing: condition) { _ in nil }, in: formats)
    }

    private static let named = """
        header: [{ kind: { type: u8, names: { 1: login, 2: text } } }, { length: u8 }]
        framing: { rule: length-field, field: length }
        frame: { type: kind }
        """

    @Test func typesThatNoFrameHas() throws {
        let named = try format(Self.named)
        #expect(try complaints("type == \"login\" or type in {\"text\", 7}", [named]) == [])
        let found = try complaints("length > 3 and type == \"logn\"", [named])
        #expect(found.count == 1 && found[0].contains("no frame has the type logn; did you mean login?"), "\(found)")
        // Of another format they may be: any type, or these.
        let any = try format("framing: { rule: delimiter, end: \"\\n\" }\nbody: json\nframe: { type: body.json.type }")
        #expect(try complaints("type == \"logn\"", [named, any]) == [])
        #expect(try complaints("type == \"logn\"", []) == [])
        let other = try format(Self.named.replacing("login", with: "logn"))
        #expect(try complaints("type == \"logn\"", [named, other]) == [])
        #expect(try complaints("type == \"lgn\"", [named, other]).count == 1)
    }

    @Test func textForNumbers() throws {
        let named = try format(Self.named)
        #expect(try complaints("fields.kind == 1 and fields.kind == \"2\"", [named]) == [])
        #expect(
            try complaints("fields.kind == \"login\"", [named]) == [
                "fields.kind is a number, and never \"login\"; login is 1"
            ])
        #expect(try complaints("fields.length == \"x\"", [named]) == ["fields.length is a number, and never \"x\""])
        let text = try format("header: [{ kind: { type: string, size: 2 } }]\nframing: { rule: fixed, size: 4 }")
        #expect(try complaints("fields.kind == \"login\"", [text]) == [])
        #expect(try complaints("fields.kind == \"login\"", [named, text]) == [], "one may have it")
    }
}
