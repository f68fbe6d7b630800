import Testing
import YAML

@testable import Framing

/// Outlines are read from the first keys of built-in formats: none may come later.
@Suite struct FormatOutlineTests {
    @Test func outlinesAreThoseOfTheWholeFiles() throws {
        let built = BuiltInFormats.outlines
        let outlines = built.systems + built.rules + ExampleFormats.outlines.map(\.outline)
        let texts =
            (BuiltInFormats.names + BuiltInFormats.ruleNames).compactMap { BuiltInFormats.yaml(of: $0) }
            + ExampleFormats.names.compactMap { ExampleFormats.yaml(of: $0) }
        #expect(outlines.count == texts.count && outlines.count > 40)
        for (outline, text) in zip(outlines, texts) {
            let whole = try #require(try Composer.compose(text)?.mapping)
            #expect(outline.name == whole["format"]?.string)
            #expect(outline.summary == whole["summary"]?.string)
            #expect(outline.ports.isEmpty == (whole["ports"] == nil), "\(outline.name)")
        }
    }
}
