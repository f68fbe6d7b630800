import Streams
import TestSupport
import Testing

@testable import Framing
@testable import Trace

/// Text from the network never controls the terminal.
@Suite struct PrintableTextTests {
    /// Not a parameterised test: arguments are printed unescaped, and these are designed to upset a terminal.
    @Test func shown() {
        let shown = [
            ("Hello", "Hello"),
            ("心跳 é 👩‍🚀", "心跳 é 👩‍🚀"),
            ("a\nb\tc\r\0", "a␊b␉c␍␀"),
            ("\u{1b}[31mred\u{7f}", "␛[31mred␡"),
            ("\u{9b}31m \u{85} \u{a0}|", "�31m � \u{a0}|"),
            // Bidirectional overrides and isolates, zero-width space, byte order mark, line separator, soft hyphen.
            ("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{2028}f\u{ad}", "a�b�c�d�e�f�"),
            // Private use, unassigned, tag characters.
            ("\u{e000}\u{378}\u{e0041}", "���"),
        ]
        for (text, expected) in shown { #expect(PrintableText.of(text) == expected) }
    }

    @Test(arguments: [
        ("Hello", 5, "Hello"), ("Hello", 4, "Hel…"), ("Hello", 1, "…"), ("", 1, ""),
        ("心跳心跳", 8, "心跳心跳"), ("心跳心跳", 7, "心跳心…"), ("心跳心跳", 6, "心跳…"), ("a心", 2, "a…"),
        ("e\u{301}e\u{301}e\u{301}", 3, "e\u{301}e\u{301}e\u{301}"), ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
    ])
    func cut(text: String, columns: Int, expected: String) {
        #expect(PrintableText.of(text, columns: columns).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }

    /// Marks stacked on one character would reach into the lines around it, and take no column at which to truncate.
    @Test func piledUpMarks() {
        let few = "a" + String(repeating: "\u{301}", count: 4)
        #expect(PrintableText.of(few) == few)
        let many = PrintableText.of("a" + String(repeating: "\u{301}", count: 60_000), columns: 20)
        #expect(many.unicodeScalars.count < 200)
        #expect(DisplayWidth.of(many) <= 20)
    }

    /// A long text takes time in proportion to its length.
    @Test(.timeLimit(.minutes(1))) func longText() {
        #expect(PrintableText.of(String(repeating: "a", count: 2_000_000)).utf8.count == 2_000_000)
    }

    @Test func random() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let text = randomText(&generator)
            let columns = Int.random(in: 1...60, using: &generator)
            let shown = PrintableText.of(text, columns: columns)
            #expect(shown.unicodeScalars.allSatisfy(isHarmless), "seed \(seed)")
            #expect(DisplayWidth.of(shown) <= columns, "seed \(seed)")
            // Nothing vanishes.
            #expect(text.isEmpty == shown.isEmpty, "seed \(seed)")
        }
    }

    /// Whole lines: random Unicode as type, ids, field names and text, random bytes as body.
    @Test(arguments: [false, true]) func randomFrames(isVerbose: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var options = TextOptions()
        options.isVerbose = isVerbose
        for _ in 0..<300 {
            let output = try text(options) { script, writer in
                script.open()
                let type = randomText(&generator)
                let fields = script.clientHead(type, randomText(&generator), randomText(&generator))
                let odd = Field("x" + randomText(&generator), .text(randomText(&generator)))
                let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
                try script.frame(at: start, fields + [odd], body: Array(randomText(&generator).utf8))
                try script.frame(at: start, fields, body: bytes)
                script.gap(at: 1, message: randomText(&generator) + ".")
                let run = UnframedRun(
                    offset: 0, bytes: bytes, time: start, reason: .badHead, detail: randomText(&generator))
                writer.unframed(run, from: .fromServer, on: try #require(script.connections[1]))
                script.close(at: 2, detail: randomText(&generator))
            }
            let lines = output.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.joined().unicodeScalars.allSatisfy(isHarmless), "seed \(seed)")
            // One line each, ended: opening, two frames, finding, run, closing.
            if !isVerbose { #expect(lines.count == 7, "seed \(seed)") }
        }
    }

    /// What a ClientHello says, after and before its connection's opening line; and the type of a frame that a rule dropped.
    @Test func namesInTLSAndActions() throws {
        let output = try text { script, writer in
            script.open()
            let connection = try #require(script.connections[1])
            var facts = TLSFacts()
            facts.serverName = "a\u{1b}[31mb"
            facts.offeredProtocols = ["h\u{7}2"]
            writer.tls(facts, at: start, on: connection)
            let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
            let other = TracedConnection(Opening(number: 2, time: start, client: end, server: end))
            writer.opened(other)
            writer.tls(facts, at: start, on: other)
            writer.recognised(other)
            writer.action(
                ActionReport(
                    rule: "r", action: "drop", direction: .fromClient, time: start, index: 0, type: "t\u{1b}[2J",
                    offset: 0, length: 3, passed: 0), on: connection)
        }
        let lines = output.split(separator: "\n")
        #expect(lines.joined().unicodeScalars.allSatisfy(isHarmless))
        #expect(lines.count { $0.hasSuffix("TLS, a␛[31mb, offers h\u{2407}2, not decrypted") } == 2)
        #expect(lines.count { $0.hasSuffix("→ drop: t␛[2J #0 (3 B), by r") } == 1)
    }

    /// Text of scalars that are plain, dangerous or arbitrary.
    private func randomText(_ generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &generator) {
            let range: ClosedRange<UInt32> =
                switch Int.random(in: 0...6, using: &generator) {
                case 0: 0...0x1f
                case 1: 0x7f...0xa0
                case 2: 0x2000...0x206f
                case 3: 0x300...0x36f
                case 4: 0x4e00...0x9fff
                case 5: 0...0x10ffff
                default: 0x20...0x7e
                }
            text.append(Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? "\u{202e}")
        }
        return String(text)
    }

    /// Whether a terminal shows the scalar and does nothing else.
    private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\u{200d}" { return true }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }

    /// The fast path for bytes gives the same result as the path for text.
    @Test func bytesAreShownAsTextIs() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let alphabet = ["a", "b", " ", "~", "\u{7f}", "\n", "é", "心", "e\u{301}", "\u{200d}", "\u{202e}"]
        for _ in 0..<3_000 {
            let rare = Int.random(in: 1...12, using: &generator)
            let text = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                let isPlain = Int.random(in: 0..<rare, using: &generator) > 0
                return alphabet[isPlain ? 0 : Int.random(in: 0..<alphabet.count, using: &generator)]
            }.joined()
            let columns = Bool.random(using: &generator) ? Int.max : Int.random(in: 0...12, using: &generator)
            var piece = TextPiece()
            piece.put(printable: Array(text.utf8).span.bytes, columns: columns)
            let expected = PrintableText.of(text, columns: columns)
            #expect(String(decoding: piece.bytes, as: UTF8.self) == expected, "seed \(seed): \(text.debugDescription)")
        }
    }
}
