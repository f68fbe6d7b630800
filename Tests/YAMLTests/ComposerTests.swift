import TestSupport
import Testing

@testable import YAML

/// Documents as nodes, by libyaml.
@Suite struct ComposerTests {
    /// A node in a short form: its kind, its place, and what it holds.
    private func shown(_ node: Node) -> String {
        let place = node.mark.map { "\($0.line):\($0.column)" } ?? "-"
        switch node.content {
        case .scalar(let text, let isPlain): return isPlain ? "\(text)@\(place)" : "'\(text)'@\(place)"
        case .sequence(let nodes): return "[\(nodes.map(shown).joined(separator: " "))]@\(place)"
        case .mapping(let mapping):
            return "{\(mapping.map { "\(shown($0.key)):\(shown($0.value))" }.joined(separator: " "))}@\(place)"
        }
    }

    private func fault(_ text: String) -> YAMLError? {
        #expect(throws: YAMLError.self) { try Composer.compose(text) }
    }

    @Test func nodesHaveTheirPlaces() throws {
        let text = """
            # A comment
            name: chat
            ports: [80, "81"]
            header:
              - { é: ü }
              - |
                two
                lines
            """
        let node = try #require(try Composer.compose(text))
        #expect(
            shown(node) == "{name@2:1:chat@2:7 ports@3:1:[80@3:9 '81'@3:13]@3:8 "
                + "header@4:1:[{é@5:7:ü@5:10}@5:5 'two\nlines'@6:5]@5:3}@2:1")
    }

    @Test func textsWithoutADocument() throws {
        for text in ["", "  \n", "# only a comment\n"] { #expect(try Composer.compose(text) == nil) }
        #expect(try Composer.compose("a: ~")?.mapping?["a"]?.string == "~")
        #expect(try Composer.compose("a:")?.mapping?["a"]?.string == "")
    }

    @Test(arguments: [
        ("a: [1\n", "not YAML: did not find expected ',' or ']'", 2, 1),
        ("a: 'x\n", "not YAML: found unexpected end of stream", 2, 1),
        ("a: 1\n b: 2", "not YAML: mapping values are not allowed in this context", 2, 3),
        ("é: x\n  \u{1}", "not YAML: control characters are not allowed", 2, 3),
        ("a: 1\n---\nb: 2", "not YAML: expected one document, found another", 3, 1),
        ("a: 1\nb: 2\n\"a\": 3\nb: 4", "key a, b appears twice", 3, 1),
        ("a: &x [1]\nb: *x", "aliases (*name) are not allowed", 2, 4),
        ("a: *unknown", "aliases (*name) are not allowed", 1, 4),
    ])
    func faultsHaveTheirPlaces(_ text: String, _ message: String, _ line: Int, _ column: Int) {
        #expect(fault(text) == YAMLError(message: message, mark: Mark(line: line, column: column)))
    }

    /// Few keys and many are looked through in two ways.
    @Test(arguments: [3, 16, 17, 400])
    func aKeyTwiceIsFoundAmongMany(count: Int) throws {
        let lines = (0..<count).map { "key\($0): \($0)\n" }
        let mapping = try #require(try Composer.compose(lines.joined())?.mapping)
        #expect(mapping.count == count && mapping["key\(count - 1)"]?.string == "\(count - 1)")
        let twice = fault(lines.joined() + "key1: x\n")
        #expect(twice == YAMLError(message: "key key1 appears twice", mark: Mark(line: count + 1, column: 1)))
    }

    @Test func nestingIsLimited() throws {
        let deep = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        #expect(try Composer.compose(deep(200)) != nil)
        #expect(fault(deep(201))?.message == "more than 200 lists and mappings in one another")
        #expect(fault(String(repeating: "[", count: 500_000)) != nil)
    }

    @Test func readingStopsAtAnotherKey() throws {
        let text = "b: [1]\na: 3\nc: 2\nd: ["
        #expect(try Composer.compose(text, while: ["a", "b", "d"]).map { $0.key.string } == ["b", "a"])
        #expect(try Composer.compose("a: 1\nb: 2", while: ["a", "b"]).count == 2)
        #expect(try Composer.compose("a: 1\nb: 2", while: ["b"]).isEmpty)
        for text in ["", "[a]", "a"] { #expect(try Composer.compose(text, while: ["a"]).isEmpty) }
        #expect(throws: YAMLError.self) { try Composer.compose(text, while: ["a", "b", "c", "d"]) }
    }

    /// The parser takes such a text in pieces, which may end within a character.
    @Test func firstKeysMayBeLong() throws {
        for length in 0..<300 {
            let value = String(repeating: "x", count: length) + String(repeating: "€🙂", count: 100)
            let mapping = try Composer.compose("a: \(value)\nb: 1\nc: [\n", while: ["a", "b"])
            #expect(mapping["a"]?.string == value && mapping["b"]?.string == "1" && mapping.count == 2)
        }
    }

    @Test func aMappingChangesByKey() {
        var mapping: Mapping = [Node("a"): Node("1"), Node("b"): Node("2")]
        mapping.set((key: Node("a"), value: Node("3")))
        mapping.set((key: Node("c"), value: Node("4")))
        mapping.remove("b")
        mapping.remove("x")
        #expect(mapping.map { "\($0.key.string ?? ""):\($0.value.string ?? "")" } == ["a:3", "c:4"])
    }

    /// Whatever a text has, it is read or refused, and what is refused has a place in it.
    @Test func anyTextIsReadOrRefused() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "a", "b: ", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", "'", "\"", "|", ">", "#", "&x ", "*x", "%",
            "é", "\u{0}", "? ", "---\n", "\\", "!t ",
        ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                pieces[Int.random(in: pieces.indices, using: &random)]
            }.joined()
            do {
                _ = try Composer.compose(text)
            } catch {
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false).count
                let line = error.mark?.line ?? 0
                #expect((1...lines + 1).contains(line), "seed \(seed): \(text.debugDescription): \(error)")
            }
        }
    }
}
