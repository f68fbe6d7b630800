import Framing
import Testing

/// Faults in formats that extend others: each is in the file that it names.
@Suite struct ExtendedFormatTests {
    private func faults(_ yaml: String, file: String = "own.yaml", _ files: [String: String]) -> [String] {
        do throws(FormatFileError) {
            _ = try FormatLoader.load(yaml, file: file, source: { files[$0] })
            return []
        } catch {
            return error.description.split(separator: "\n").map { String($0) }
        }
    }

    private static let family = """
        # A family.
        format: family
        header: [{ length: u61 }]
        framing: { rule: length-field, field: length }
        """

    @Test func eachIsInItsFile() {
        let said = faults(
            "extends: family.yaml\n\n\n\nbody: txt", file: "formats/own.yaml", ["family.yaml": Self.family])
        #expect(
            said == [
                "formats/own.yaml:5:7: unknown body encoding txt in body; did you mean text?",
                "formats/family.yaml:3:20: there is no field type u61; did you mean u64?",
            ], "\(said)")
    }

    /// Names are relative to the file that has them.
    @Test func filesAreBesideThoseThatExtendThem() {
        let files = ["family/a.yaml": "extends: b.yaml", "family/b.yaml": Self.family]
        let said = faults("extends: family/a.yaml", file: "formats/own.yaml", files)
        #expect(said.count == 1 && said[0].hasPrefix("formats/family/b.yaml:3:20: "), "\(said)")
    }

    @Test func filesThatAreExtendedMayExtendOthers() {
        let files = [
            "a.yaml": "extends: /etc/b.yaml\nbdoy: text",
            "/etc/b.yaml": Self.family.replacing("u61", with: "u16") + "\nprots: 1",
        ]
        #expect(
            faults("extends: a.yaml\nport: 1", files) == [
                "own.yaml:2:1: unknown key port in the format; did you mean ports?",
                "a.yaml:2:1: unknown key bdoy in the format; did you mean body?",
                "/etc/b.yaml:5:1: unknown key prots in the format; did you mean ports?",
            ])
    }

    @Test func filesThatCannotBeRead() {
        func said(_ yaml: String) -> [String] { faults("extends: a.yaml", ["a.yaml": yaml]) }
        #expect(said("format: a\nextends: b.yaml").contains { $0.hasPrefix("a.yaml:2:10: there is no format b.yaml") })
        #expect(said("format: a\nx: [\n").contains { $0.hasPrefix("a.yaml:") && $0.contains("not YAML") })
        #expect(said("").contains { $0.hasPrefix("a.yaml:1:1: the file is empty") })
        #expect(said("\n- a").contains { $0.hasPrefix("a.yaml:2:1: the format should be a mapping") })
        // What no file says is missing in the one that extends the others.
        #expect(said("\n\nformat: a").contains("own.yaml:1:1: the format lacks framing"))
    }

    @Test func formatsThatAreBuiltInHaveNames() {
        let said = faults("extends: tlv32\nclient: { header: [{ size: u32 }] }", file: "formats/own.yaml", [:])
        #expect(said.contains { $0.hasPrefix("tlv32:") && $0.contains("there is no field total") }, "\(said)")
    }

    @Test func warningsAreInTheirFileToo() throws {
        let family = """
            format: family
            header: [{ n: u16 }, { t: u8 }]
            framing: { rule: length-field, field: n, counts: rest }
            body: { byType: { 1: json }, else: raw }
            """
        let warnings = try FormatLoader.loadWithWarnings(
            "extends: family.yaml", file: "own.yaml", source: { _ in family }
        ).warnings
        #expect(warnings.map { "\($0.file ?? "own") \($0.line):\($0.column)" } == ["family.yaml 4:7"])
    }
}
