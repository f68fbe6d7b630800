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
}
