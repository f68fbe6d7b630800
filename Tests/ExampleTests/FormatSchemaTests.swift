import Foundation
import Framing
import Testing

/// docs/format.schema.json and docs/format-files.md match the loader.
@Suite struct FormatSchemaTests {
    private static let docs = "\(Example.root)/docs"

    @Test func everyBuiltInFormatAndExampleIsValid() throws {
        let result = try Program.checkFormats()
        #expect(result.status == 0, "\(result.text)\(result.errors)")
        #expect(result.text.contains("files, none faulty"), "\(result.text)")
    }

    /// Both the schema and the loader reject these.
    @Test(arguments: [
        "format: x",
        "framing: { rule: fixed, size: 4 }",
        "format: My_format\nframing: { rule: fixed, size: 4 }",
        "format: x\nprots: [80]\nframing: { rule: fixed, size: 4 }",
        "format: x\nports: [0]\nframing: { rule: fixed, size: 4 }",
        "format: x\nframing: { rule: hat-and-body }",
        "format: x\nframing: { rule: delimiter }",
        "format: x\nframing: { rule: delimiter, end: '' }",
        "format: x\nframing: { rule: chunk, limit: 1 MiB }",
        "format: x\nframing: { rule: delimiter, end: a, limit: 0 }",
        "format: x\nheader: [{ n: u61 }]\nframing: { rule: length-field, field: n }",
        "format: x\nheader: [{ n: u8, m: u8 }]\nframing: { rule: length-field, field: n }",
        "format: x\nheader: [{ n: { type: uint } }]\nframing: { rule: length-field, field: n }",
        "format: x\nheader: [{ n: { type: u8, bits: { a: b } } }]\nframing: { rule: length-field, field: n }",
        "format: x\nframing: { rule: fixed, size: 4 }\nbody: txt",
        "format: x\nframing: { rule: fixed, size: 4 }\nbyteOrder: middle",
        "format: x\nframing: { rule: fixed, size: 4 }\nheartbeat: { when: length > 1, from: me, every: 1 s }",
        "format: x\nframing: { rule: fixed, size: 4 }\nheartbeat: { when: length > 1, from: client, every: 1 parsec }",
        "format: x\nframing: { rule: fixed, size: 4 }\nclient: { ports: [80] }",
        "format: x\nframing: { rule: fixed, size: 4 }\noneOf: [{ frame: { type: a } }]",
        "format: x\nframing: { rule: fixed, size: 4 }\nframe: { type: [{ when: length > 1 }] }",
        "format: x\nframing: { rule: fields, size: 4 }\nheader: [{ n: u8 }]",
        "format: x\nframing: { rule: fields, body: [{ when: n > 1 }] }\nheader: [{ n: u8 }]",
        "format: x\nframing: { rule: fields }\nheader: [{ words: [verb] }]",
        "format: x\nframing: { rule: fields }\nheader: [{ list: { repeat: u8 } }]",
        "format: x\nframing: { rule: chunk }\nbody: { xor: {} }",
        "format: x\nframing: { rule: chunk }\nbody: { cases: [{ when: type == 'a' }] }",
        "format: x\nframing: { rule: chunk }\nstates: { a: { detect: {} } }",
        "format: x\nframing: { rule: chunk }\nstates: { a: {} }\ntransitions: [{ to: a }]",
    ])
    func brokenFilesAreRefused(yaml: String) throws {
        #expect(throws: FormatFileError.self) { try FormatLoader.load(yaml, file: "x.yaml") }
        let file = try TemporaryFile(Array(yaml.utf8), name: "broken.yaml")
        let result = try Program.checkFormats([file.path])
        #expect(
            result.status == 1 && result.text.contains("1 files, 1 faulty"), "\(yaml): \(result.text)\(result.errors)")
    }

    // MARK: The schema's lists

    private func schema() throws -> [String: Any] {
        let data = try Data(contentsOf: URL(filePath: "\(Self.docs)/format.schema.json"))
        return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    /// The first list of words at or below a value.
    private func words(_ value: Any?) -> [String] {
        let map = value as? [String: Any] ?? [:]
        if let list = map["enum"] as? [String] { return list }
        return (map["anyOf"] as? [Any] ?? []).lazy.map(words).first { !$0.isEmpty } ?? []
    }

    private func definition(_ path: String...) throws -> [String] {
        let found = path.reduce(try schema() as Any?) { ($0 as? [String: Any])?[$1] }
        return words(found)
    }

    private func loads(_ yaml: String) -> String? {
        do throws(FormatFileError) {
            _ = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml")
            return nil
        } catch {
            return error.description
        }
    }

    /// The names that the loader knows, as it says where it knows none like that.
    private func known(_ yaml: String) throws -> Set<String> {
        let fault = try #require(loads(yaml))
        let list = try #require(fault.components(separatedBy: "known are ").dropFirst().first, "\(fault)")
        return Set(list.components(separatedBy: "\n")[0].components(separatedBy: ", "))
    }

    @Test func theSchemasWordsAreTheLoaders() throws {
        let rules = try definition("$defs", "framing", "properties", "rule")
        #expect(try Set(rules) == known("framing: { rule: nothing-like-that }"))
        let types = try definition("$defs", "type")
        #expect(types.count > 20)
        for type in types {
            let field = "{ type: \(type), size: 2, ends: x }"
            #expect(loads("header: [{ f: \(field) }]\nframing: { rule: delimiter, end: \"\\n\" }") == nil)
        }
        let encodings = try definition("$defs", "encoding")
        #expect(encodings.count >= 12)
        for encoding in encodings { #expect(loads("framing: { rule: fixed, size: 4 }\nbody: \(encoding)") == nil) }
        // Some need options.
        let withOptions = FormatLanguage.sections.map(\.name).filter { $0.hasPrefix("body.") }
            .map { String($0.dropFirst("body.".count)) }
        // Anything that the loader knows and the schema does not would be reported here.
        let all = try known("framing: { rule: fixed, size: 4 }\nbody: nothing-like-that")
        #expect(all.isSuperset(of: encodings) && all.isSubset(of: encodings + withOptions), "\(all)")
    }

    // MARK: The reference

    @Test func everyKeyOfTheSchemaIsInTheReference() throws {
        let text = try String(contentsOfFile: "\(Self.docs)/format-files.md", encoding: .utf8)
        var names = Set<String>()
        func collect(_ value: Any) {
            if let list = value as? [Any] { list.forEach(collect) }
            guard let map = value as? [String: Any] else { return }
            if let properties = map["properties"] as? [String: Any] { names.formUnion(properties.keys) }
            names.formUnion(map["enum"] as? [String] ?? [])
            map.values.forEach(collect)
        }
        collect(try schema())
        // Unusual widths are represented by an ellipsis there; yes and no are YAML's.
        names.subtract(["u40", "u48", "u56", "i40", "i48", "i56", "yes", "no", "false"])
        for name in names.sorted() {
            let isThere =
                text.contains("`\(name)`") || text.contains("`\(name):") || text.contains("{ \(name),")
                || text.contains(", \(name) }") || text.contains(", \(name),")
            #expect(isThere, "docs/format-files.md does not explain \(name)")
        }
        #expect(names.count > 90)
    }

    /// Every example of the reference is valid, for the loader and for the schema.
    @Test func theReferencesExamplesAreWellFormed() throws {
        let text = try String(contentsOfFile: "\(Self.docs)/format-files.md", encoding: .utf8)
        var files: [TemporaryFile] = []
        for block in text.components(separatedBy: "```yaml\n").dropFirst() {
            let yaml = block.components(separatedBy: "```")[0]
            #expect(loads(yaml) == nil, "\(yaml)")
            files.append(try TemporaryFile(Array(("format: x\n" + yaml).utf8), name: "example-\(files.count).yaml"))
        }
        #expect(files.count > 15)
        let result = try Program.checkFormats(files.map(\.path))
        #expect(result.status == 0, "\(result.text)")
    }
}
