import Foundation
import Framing
import Testing

/// docs/format.schema.json, and the tables of docs/format-files.md, are what the loader says of its keys.
///
/// With FRAMETAP_UPDATE_DOCS=1 the files are written instead: tools/update-docs.
@Suite struct FormatReferenceTests {
    static let updates = ProcessInfo.processInfo.environment["FRAMETAP_UPDATE_DOCS"] == "1"
    private static let docs = "\(Example.root)/docs"

    private func expect(_ path: String, _ generated: (String) throws -> String) throws {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let expected = try generated(text)
        if Self.updates, text != expected { try expected.write(toFile: path, atomically: true, encoding: .utf8) }
        #expect(Self.updates || text == expected, "\(path) is not what the loader says: run tools/update-docs")
    }

    @Test func theSchemaIsWhatTheLoaderSays() throws {
        try expect("\(Self.docs)/format.schema.json") { _ in FormatLanguage.schema }
    }

    @Test func theTablesAreWhatTheLoaderSays() throws {
        try expect("\(Self.docs)/format-files.md") { try FormatLanguage.updated(reference: $0) }
    }

    /// Every section that has keys of its own is in the reference; those of kinds, sides and fields are variants.
    @Test func everySectionHasATable() throws {
        let text = try String(contentsOfFile: "\(Self.docs)/format-files.md", encoding: .utf8)
        for section in FormatLanguage.sections where !section.keys.isEmpty {
            let isThere =
                text.contains("<!-- keys: \(section.name) -->") || text.contains("<!-- names: \(section.name) -->")
                || section.name.hasPrefix("body.") && text.contains("<!-- keys: encoding -->")
                || section.name.hasPrefix("through.") && text.contains("<!-- keys: streamEncoding -->")
            #expect(isThere, "docs/format-files.md has no table of \(section.name)")
        }
    }

    /// Names are used once, so that a section is found by its name, and a definition of the schema is one thing.
    @Test func namesAreUsedOnce() {
        let names = FormatLanguage.names
        #expect(Set(names).count == names.count)
        for section in FormatLanguage.sections {
            #expect(Set(section.keys.map(\.name)).count == section.keys.count, "\(section.name)")
        }
    }

    @Test func aSectionIsFoundByTheEndOfItsName() throws {
        #expect(try FormatLanguage.listing(of: "delimiter") == FormatLanguage.listing(of: "framing.delimiter"))
        #expect(try FormatLanguage.listing(of: "sequence").hasPrefix("sequence: the number in a side's frames"))
        #expect(FormatLanguage.listing.contains("heartbeat.answer"))
        let error = #expect(throws: FormatLanguageError.self) { try FormatLanguage.listing(of: "delimeter") }
        #expect(error?.description.hasPrefix("there is no section delimeter") == true)
    }

    @Test func aTableOfNothingIsAnError() throws {
        #expect(throws: FormatLanguageError.self) {
            try FormatLanguage.updated(reference: "<!-- keys: nothing -->\n<!-- end -->\n")
        }
        #expect(throws: FormatLanguageError.self) { try FormatLanguage.updated(reference: "<!-- keys: tls -->\n") }
        let text = try FormatLanguage.updated(reference: "<!-- keys: tls -->\nold\n<!-- end -->\nrest\n")
        #expect(
            text.hasPrefix("<!-- keys: tls -->\n\n| key | value | meaning |\n")
                && text.hasSuffix("\n\n<!-- end -->\nrest\n"))
    }
}
