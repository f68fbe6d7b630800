import Framing
import Streams
import Testing

@Suite struct JSONTests {
    private func accepts(_ text: String, depthLimit: Int = 32) -> Bool {
        let bytes = Array(text.utf8)
        var scanner = JSONScanner(depthLimit: depthLimit)
        do throws(JSONSyntaxError) {
            _ = try scanner.value(bytes.span.bytes)
            scanner.skipSpace(bytes.span.bytes)
            return scanner.isAtEnd(bytes.span.bytes)
        } catch {
            return false
        }
    }

    @Test(arguments: [
        "{}", "[]", " [ 1 , -2.5e+3 , 0 , 1E9 ] ", "{\"a\":{\"b\":[true,false,null]}}", "\"\\u00e9\\n\\\"\"", "\"é心😀\"",
    ])
    func acceptsWhatRFC8259Allows(text: String) {
        #expect(accepts(text))
    }

    @Test(arguments: [
        "", "{", "{,}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "[1,]", "01", "1.", ".5", "+1", "-", "1e", "tru", "nul",
        "\"", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "'a'", "{a:1}", "[1 2]", "{\"a\":1}}", "NaN",
    ])
    func refusesWhatItDoesNot(text: String) {
        #expect(!accepts(text))
    }

    @Test func deepNestingIsRefusedNotFollowed() {
        #expect(!accepts(String(repeating: "[", count: 1_000_000)))
        #expect(accepts(String(repeating: "[", count: 32) + String(repeating: "]", count: 32)))
        #expect(!accepts(String(repeating: "[", count: 33) + String(repeating: "]", count: 33)))
    }

    @Test func stringsAreEscapedSoThatTerminalsAreSafe() {
        var bytes: [UInt8] = []
        JSONOutput.string("a\"\\\n\u{1b}[31m\u{7f}\u{9b}é\u{a0}", into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == #""a\"\\\n\u001b[31m\u007f\u009bé\#u{a0}""#)
    }

    /// Several bytes are looked at at once: wherever something is to be escaped, the text is that of one character at a time.
    @Test func escapesDoNotDependOnWhereTheyAre() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let special: [Unicode.Scalar] = [
            "\0", "\t", "\n", "\u{1f}", " ", "!", "\"", "#", "[", "\\", "]", "~", "\u{7f}", "\u{80}", "\u{9f}",
            "\u{a0}", "é", "\u{bf}",
            "心", "😀",
        ]
        for _ in 0..<3_000 {
            // Some around the end of a piece.
            let before = Bool.random(using: &random) ? 0 : Int.random(in: 4_050...4_096, using: &random)
            var text = String.UnicodeScalarView(repeating: "b", count: before)
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let isPlain = Int.random(in: 0..<10, using: &random) > 0
                text.append(isPlain ? "a" : special[Int.random(in: 0..<special.count, using: &random)])
            }
            var expected = String(repeating: "b", count: before)
            for scalar in text.dropFirst(before) {
                switch scalar.value {
                case 0x22, 0x5c: expected += "\\" + String(scalar)
                case 0x08, 0x09, 0x0a, 0x0c, 0x0d:
                    let letters: [UInt32: String] = [0x08: "b", 0x09: "t", 0x0a: "n", 0x0c: "f", 0x0d: "r"]
                    expected += "\\" + (letters[scalar.value] ?? "")
                case 0..<0x20, 0x7f..<0xa0:
                    let digits = String(scalar.value, radix: 16)
                    expected += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                default: expected.unicodeScalars.append(scalar)
                }
            }
            var bytes: [UInt8] = []
            JSONOutput.string(String(text), into: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "\"\(expected)\"", "seed \(seed)")
        }
    }

    /// Several bytes are looked at at once: wherever a string's first quote, backslash, control character or other byte is, the string ends
    /// where it does one byte at a time, or is refused at the same place.
    @Test func stringsEndWhereverTheyAre() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let special: [[UInt8]] = [
            [0x00], [0x1f], [0x20], [0x21], [0x22], [0x23], [0x5b], [0x5c], [0x5c, 0x22], [0x5c, 0x5c], [0x5c, 0x6e],
            [0x5d],
            [0x7f], [0x80], [0x9f], [0xa2], [0xdc], [0xff],
        ]
        for _ in 0..<5_000 {
            var text = [UInt8](repeating: 0x20, count: Int.random(in: 0...9, using: &random)) + [0x22]
            let start = text.count
            for _ in 0..<Int.random(in: 0...30, using: &random) {
                let isPlain = Int.random(in: 0..<10, using: &random) > 0
                text += isPlain ? [0x61] : special[Int.random(in: 0..<special.count, using: &random)]
            }
            text.append(contentsOf: Bool.random(using: &random) ? [0x22, 0x2c, 0x22] : [])
            // One byte at a time.
            var (at, end, fault, isEscaped) = (start, Int?.none, Int?.none, false)
            while at < text.count, end == nil, fault == nil {
                switch text[at] {
                case 0x22: end = at + 1
                case 0x5c:
                    isEscaped = true
                    at += 1
                    if at >= text.count || ![0x22, 0x5c, 0x6e].contains(text[at]) { fault = at }
                case 0..<0x20: fault = at
                default: break
                }
                at += 1
            }
            var scanner = JSONScanner()
            do throws(JSONSyntaxError) {
                let (kind, range) = try scanner.value(text.span.bytes)
                #expect(end == range.upperBound && range.upperBound == scanner.position, "seed \(seed): \(text)")
                guard case .string(escaped: isEscaped) = kind else {
                    Issue.record("seed \(seed): \(text) is \(kind)")
                    continue
                }
            } catch {
                #expect(end == nil && error.offset == fault ?? text.count, "seed \(seed): \(text)")
            }
        }
    }

    @Test(
        arguments: [
            (#"{"k":"\u00e9\ud83d\ude00\ud83d"}"#, FieldValue.text("é😀\u{fffd}")),
            (#"{"k":-0012}"#, nil), (#"{"k":12}"#, .integer(12)), (#"{"k":18446744073709551615}"#, .unsigned(.max)),
            (#"{"k":1.5}"#, .number(1.5)), (#"{"k": [ 1, "a b" ] }"#, .json(#"[1,"a b"]"#)),
            (#"{"k":true}"#, .boolean(true)),
            (#"{"k":null}"#, .null), (#"{"k":1,"k":2}"#, .integer(2)), (#"{"\u006b":3}"#, .integer(3)),
            (#"{"kk":3}"#, nil), (#"{"":3}"#, nil), (#"{"\n":3}"#, nil), (#"{"\u006c":3}"#, nil),
            (#"{"k":1e999}"#, .json("1e999")),
        ] as [(String, FieldValue?)])
    func membersAreFoundByName(text: String, value: FieldValue?) {
        #expect(JSONHead(sizeField: nil).field("k", of: Array(text.utf8).span.bytes) == value)
    }

    /// Numbers of every length, and those around powers of ten, are written as Swift writes them.
    @Test func numbersInDecimal() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        var numbers: [UInt64] = [0, .max, UInt64(Int64.max)]
        var power: UInt64 = 1
        for _ in 0..<19 {
            power *= 10
            numbers += [power - 1, power, power + 1]
        }
        for bits in 1...64 { for _ in 0..<20 { numbers.append(random.next() >> UInt64(64 - bits)) } }
        for number in numbers {
            var bytes: [UInt8] = []
            JSONOutput.decimal(number, into: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == "\(number)", "seed \(seed)")
            bytes = [1]
            Array("a\":".utf8).withUnsafeBytes { JSONOutput.decimal(number, after: $0, into: &bytes) }
            #expect(bytes == [1] + Array("a\":\(number)".utf8), "seed \(seed)")
        }
        for number in numbers where number < 100_000_000 {
            for least in 1...8 {
                var bytes: [UInt8] = []
                JSONOutput.decimal(UInt32(number), digits: least, into: &bytes)
                let text = "\(number)"
                let zeros = String(repeating: "0", count: max(0, least - text.count))
                #expect(String(decoding: bytes, as: UTF8.self) == zeros + text, "seed \(seed)")
            }
        }
    }
}
