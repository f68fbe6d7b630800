import Expressions
import Streams
import Testing

@testable import Framing

/// The values that expressions of a structure refer to: the innermost, and the last of a name.
@Suite struct StructureScopeTests {
    private static func lines(_ text: String) -> ReferencedLines {
        ReferencedLines(
            HeaderLines(ends: [[0x0a]], separator: UInt8(ascii: ":"), hasSpace: true, most: 1_000),
            Array(text.utf8).span.bytes)
    }

    @Test func theLastOfANameCounts() {
        var scope = StructureScope([Field("size", .integer(1))])
        scope.add("size", .integer(2))
        scope.add("size", .integer(3), in: ["area"])
        #expect(scope.value(at: ["size"]) == .integer(2))
        #expect(scope.value(at: ["fields", "size"]) == .integer(2))
        #expect(scope.value(at: ["area", "size"]) == .integer(3))
        #expect(scope.value(at: ["fields", "area", "size"]) == .integer(3))
        #expect(scope.value(at: ["other", "size"]) == .absent)
        scope.shorten(to: 1)
        #expect(scope.value(at: ["size"]) == .integer(1))
        #expect(scope.value(at: ["area", "size"]) == .absent)
    }

    @Test func linesHaveAPlaceAmongThem() {
        var scope = StructureScope()
        scope.add("host", .text("before"), in: ["headers"])
        scope.add("headers", Self.lines("Host: a\nSize:  5\nHOST: b\nEmpty\n\n"))
        #expect(scope.value(at: ["headers", "host"]) == .text("a"))
        #expect(scope.value(at: ["fields", "headers", "size"]) == .text("5"))
        #expect(scope.value(at: ["headers", "other"]) == .absent)
        #expect(scope.value(at: ["others", "host"]) == .absent)
        scope.add("host", .text("after"), in: ["headers"])
        #expect(scope.value(at: ["headers", "host"]) == .text("after"))
        scope.shorten(to: 2)
        #expect(scope.value(at: ["headers", "host"]) == .text("a"))
        scope.shorten(to: 1)
        #expect(scope.value(at: ["headers", "host"]) == .text("before"))
        scope.add("x", .absent)
        scope.add("y", .absent)
        #expect(scope.value(at: ["headers", "size"]) == .absent)
    }

    /// The quick check rules out no name that is there.
    @Test func namesAreFoundAsTheyAreRead() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let pieces = ["Host", "host", "HOST ", " size", "K", "\u{212a}", "ä", ":", ": ", "5", "\n", "\n", "x y"]
        var found = 0
        for _ in 0..<500 {
            var text = ""
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                text += pieces.randomElement(using: &generator) ?? ""
            }
            let bytes = Array((text + "\n\n").utf8)
            let lines = HeaderLines(ends: [[0x0a]], separator: UInt8(ascii: ":"), hasSpace: true, most: 1_000)
            let plain = lines.read(bytes.span.bytes).map { HeaderLines.plain($0) } ?? []
            let referenced = ReferencedLines(lines, bytes.span.bytes)
            for name in ["host", "size", "k", "ä", "x y", "other"] {
                let value = plain.last { $0.name == name }?.value
                #expect(referenced.value(of: name) == value, "\(name) in \(text), seed \(seed)")
                #expect(referenced.value(of: name) == value, "again")
                found += value == nil ? 0 : 1
            }
            #expect(lines.areValid(bytes.span.bytes) == (lines.lines(bytes.span.bytes) != nil))
        }
        #expect(found > 100)
    }
}
