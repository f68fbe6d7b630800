import Foundation
import Framing
import Packets
import Streams
import Testing
import Trace

/// The fixed lists of docs/trace.schema.json and docs/trace.md match those of the code.
@Suite struct SchemaTests {
    private static let folder = URL(filePath: #filePath).appending(path: "../../../docs").standardized

    /// The value at a path of the schema.
    private func schema(_ path: String...) throws -> Any {
        let data = try Data(contentsOf: Self.folder.appending(path: "trace.schema.json"))
        return try path.reduce(try JSONSerialization.jsonObject(with: data)) { value, key in
            try #require((value as? [String: Any])?[key], "the schema lacks \(key)")
        }
    }

    private func list(_ path: String...) throws -> [String] {
        let data = try Data(contentsOf: Self.folder.appending(path: "trace.schema.json"))
        let value = try path.reduce(try JSONSerialization.jsonObject(with: data)) { value, key in
            try #require((value as? [String: Any])?[key], "the schema lacks \(key)")
        }
        return try #require(value as? [String]).sorted()
    }

    @Test func unframedReasons() throws {
        let listed = try list("$defs", "unframed", "properties", "reason", "enum")
        #expect(listed == UnframedReason.allCases.map(\.rawValue).sorted())
    }

    @Test func findingKinds() throws {
        #expect(try list("$defs", "kind", "enum") == Finding.Kind.allCases.map(\.rawValue).sorted())
    }

    @Test func severities() throws {
        let listed = try list("$defs", "finding", "properties", "severity", "enum")
        #expect(listed == Finding.Severity.allCases.map(\.rawValue).sorted())
    }

    @Test func waysToChooseAFormat() throws {
        let listed = try list("$defs", "format", "properties", "by", "enum")
        #expect(listed == FormatChoice.Way.allCases.map(\.rawValue).sorted())
    }

    @Test func closeReasons() throws {
        let listed = try list("$defs", "closed", "properties", "reason", "enum")
        #expect(listed == CloseReason.allCases.map(\.rawValue).sorted())
    }

    @Test func skipped() throws {
        let listed = try list("$defs", "summary", "properties", "skipped", "propertyNames", "enum")
        #expect(listed == Skipped.allCases.map(\.rawValue).sorted())
    }

    /// Every protocol that is named, not framed, is in docs/trace.md.
    @Test func signatures() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "trace.md"), encoding: .utf8)
        for name in Signature.all.map(\.name) { #expect(text.contains("`\(name)` ("), "docs/trace.md lacks \(name)") }
    }

    /// Every event, property and value of a fixed list is explained.
    @Test func everythingIsDocumented() throws {
        let text = try String(contentsOf: Self.folder.appending(path: "trace.md"), encoding: .utf8)
        var names = Set<String>()
        func collect(_ value: Any) {
            guard let map = value as? [String: Any] else { return }
            for (name, inner) in map["properties"] as? [String: Any] ?? [:] {
                names.insert(name)
                collect(inner)
            }
            names.formUnion((map["enum"] as? [Any] ?? []).compactMap { $0 as? String })
            if let inner = map["propertyNames"] { collect(inner) }
        }
        for definition in try #require(try schema("$defs") as? [String: Any]).values { collect(definition) }
        for name in names.sorted() { #expect(text.contains("`\(name)`"), "docs/trace.md does not explain \(name)") }
        #expect(names.count > 60)
    }
}
