import Foundation
import Framing
import Testing

/// Every key that a section declares is read by the loader, as declared, in an example whose bytes are decoded.
@Suite(.serialized) struct FormatKeyTests {
    /// What the loader reads of examples: keys of sections, and others.
    private static let read = FormatExample.all.map { example in
        let probe = KeyProbe()
        _ = try? FormatLoader.load(example.yaml, file: example.name, probe: probe)
        return (example: example, keys: probe.keys, others: probe.undeclared)
    }

    @Test(arguments: FormatExample.all) func theExampleDecodesAsItSays(_ example: FormatExample) throws {
        let played = try example.played()
        if FormatReferenceTests.updates { return try example.write(played) }
        #expect(played == example.script, "\(example.name)")
        #expect(played.contains("\n  {"), "\(example.name) has no frame")
    }

    @Test func everyKeyHasAnExample() {
        let used = Self.read.reduce(into: Set<KeyProbe.Key>()) { $0.formUnion($1.keys) }
        let declared = FormatLanguage.sections.flatMap { section in
            section.keys.map { KeyProbe.Key(section: section.name, key: $0.name) }
        }
        #expect(declared.count > 250)
        let unused = declared.filter { !used.contains($0) && !Self.decisive.contains($0) }
        #expect(unused.isEmpty, "no example has \(unused.map(\.description).joined(separator: ", "))")
    }

    /// The loader reads no key that its section does not declare; the keys of some mappings are names.
    @Test func everyKeyThatIsReadIsDeclared() {
        for (example, _, others) in Self.read {
            let keys = others.filter { other in !["names: ", ".messages: "].contains { other.contains($0) } }
            #expect(keys == [], "\(example.name)")
        }
    }

    /// Without a required key an example is faulty.
    @Test func requiredKeysAreRequired() {
        for (example, keys, _) in Self.read {
            for section in FormatLanguage.sections {
                for key in section.keys where key.isRequired {
                    let own = KeyProbe.Key(section: section.name, key: key.name)
                    // Other keys decide how these are read.
                    guard keys.contains(own), !Self.decisive.contains(own) else { continue }
                    let probe = KeyProbe(omitting: own)
                    let loaded = try? FormatLoader.load(example.yaml, file: example.name, probe: probe)
                    #expect(loaded?.format.name == nil, "\(example.name) without \(own)")
                }
            }
        }
    }

    /// A default that is written out changes nothing.
    @Test(arguments: FormatExample.all) func defaultsAreTheDefaults(_ example: FormatExample) throws {
        let format = dumped(try FormatLoader.load(example.yaml, file: example.name))
        func changes(_ keys: Set<KeyProbe.Key>) -> Bool {
            let probe = KeyProbe(givingDefaultsOf: keys)
            let spelledOut = try? FormatLoader.load(example.yaml, file: example.name, probe: probe)
            return spelledOut.map { dumped($0.format) != format } ?? true
        }
        let defaults = FormatLanguage.sections.flatMap { section in
            section.keys.filter { $0.standard != nil }.map { KeyProbe.Key(section: section.name, key: $0.name) }
        }
        guard changes(Set(defaults)) else { return }
        let others = defaults.filter { changes([$0]) }.map(\.description)
        Issue.record("\(example.name) has other defaults of \(others.joined(separator: ", "))")
    }

    /// What a format consists of. Dictionaries have no order, and so neither have lines, the characters of a line, and the numbers that
    /// objects get.
    private func dumped(_ format: Format) -> [String] {
        var text = ""
        dump(format, to: &text)
        return text.replacing(#/ #[0-9]+/#, with: "").split(separator: "\n").map { String($0.sorted()) }.sorted()
    }

    @Test func sectionsAndKeysAreDescribed() {
        for section in FormatLanguage.sections {
            #expect(!section.summary.isEmpty && !section.summary.hasSuffix("."), "\(section.name)")
            for key in section.keys {
                #expect(!key.meaning.isEmpty && !key.meaning.hasSuffix("."), "\(section.name).\(key.name)")
            }
        }
    }

    /// Every example is also as the schema has it.
    @Test func examplesAreAsTheSchemaHasThem() throws {
        let files = try FormatExample.all.map { try TemporaryFile(Array($0.yaml.utf8), name: "\($0.name)") }
        #expect(files.count > 15)
        let result = try Program.checkFormats(files.map(\.path))
        #expect(result.status == 0, "\(result.text)\(result.errors)")
    }

    /// Keys by which the loader decides what a section is, before it reads it.
    private static let decisive = Set(
        [
            ("item.literal", "literal"), ("item.words", "words"), ("item.fields", "fields"),
            ("item.name.fields", "fields"), ("item.string", "type"), ("item.bytes", "type"), ("item.int", "type"),
            ("item.ends", "type"), ("item.body", "body"),
        ].map { KeyProbe.Key(section: $0, key: $1) }
            + FormatLanguage.sections.filter { $0.name.hasPrefix("framing.") }.map {
                KeyProbe.Key(section: $0.name, key: "rule")
            })
}

extension FormatExample {
    /// Writes what is shown to where the example is.
    fileprivate func write(_ played: String) throws {
        guard played != script else { return }
        if name.hasPrefix("reference-") {
            let text = try String(contentsOfFile: Self.reference, encoding: .utf8)
            let old = String(yaml.dropFirst("format: x\n".count)) + "```\n\n```frames\n" + script
            let new = String(yaml.dropFirst("format: x\n".count)) + "```\n\n```frames\n" + played
            try text.replacing(old, with: new).write(toFile: Self.reference, atomically: true, encoding: .utf8)
        } else {
            let lines = played.split(separator: "\n").map { "  \($0)\n" }.joined()
            try (yaml + "--- |\n" + lines).write(toFile: "\(Self.folder)/\(name)", atomically: true, encoding: .utf8)
        }
    }
}
