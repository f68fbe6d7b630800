import Framing
import Streams
import Testing

/// Keys of masks that are fields of the header.
@Suite struct XORBodyTests {
    private func format(_ header: String, _ rule: String, more: String = "") throws -> Format {
        try FormatLoader.load(
            """
            format: x
            header: [\(header), { length: u16 }]
            framing: { rule: \(rule) }
            body: [{ xor: { key: mask } }, text]
            \(more)
            """, file: "x.yaml")
    }

    private static let rules = ["length-field, field: length", "fields, body: length"]

    private func masked(_ text: String, _ mask: [UInt8]) -> [UInt8] {
        text.utf8.enumerated().map { $1 ^ mask[$0 % mask.count] }
    }

    /// Whatever the byte order, and with the zeros before it.
    @Test(
        arguments: [
            ("u8", [0x5a]), ("u16", [0x12, 0x34]), ("{ type: u16, byteOrder: little }", [0x12, 0x34]),
            ("u24", [1, 2, 3]), ("u32", [0x37, 0xfa, 0x21, 0x3d]), ("u32", [0, 0, 0, 1]), ("i16", [0xff, 0xfe]),
            ("u64", [0xff, 1, 2, 3, 4, 5, 6, 7]), ("{ type: bytes, size: 4 }", [0x37, 0xfa, 0x21, 0x3d]),
        ] as [(String, [UInt8])])
    func aNumberIsItsBytesAsTheyAreSent(type: String, mask: [UInt8]) throws {
        let text = "Hello, all of you"
        for rule in Self.rules {
            let format = try format("{ mask: \(type) }", rule)
            let bytes = mask + [0, UInt8(text.utf8.count)] + masked(text, mask)
            let line = try traceLine(bytes, format)
            #expect(line.contains("\"text\":\"\(text)\""), "\(type), \(rule): \(line)")
            #expect(try rebuilt(line, format) == bytes, "\(type), \(rule)")
        }
    }

    /// The key that RFC 6455 section 5.7 has in its example.
    @Test func aNumberMasksAsInWebSocket() throws {
        let format = try format("{ mask: u32 }", Self.rules[0])
        let bytes: [UInt8] = [0x37, 0xfa, 0x21, 0x3d, 0, 5, 0x7f, 0x9f, 0x4d, 0x51, 0x58]
        #expect(try traceLine(bytes, format).contains(#""text":"Hello""#))
        #expect(try rebuilt(#"{"fields":{"mask":939139389},"body":{"text":"Hello"}}"#, format) == bytes)
    }

    /// What has no bytes of its own, or digits, is its lowest byte.
    @Test(
        arguments: [
            ("{ first: { type: u16, bits: { 4-11: mask } } }", [0x15, 0xa0], 0x5a),
            ("{ first: u8 }, { mask: { value: first + 256 } }", [0x5a], 0x5a),
            ("{ mask: { type: decimal, ends: \" \" } }", [0x37, 0x20], 7),
        ] as [(String, [UInt8], UInt8)])
    func otherNumbersAreOneByte(header: String, head: [UInt8], key: UInt8) throws {
        let format = try format(header, "fields, body: length")
        let bytes = head + [0, 5] + masked("Hello", [key])
        #expect(try traceLine(bytes, format).contains(#""text":"Hello""#))
    }

    @Test func theByteOrderOfTheStreamDoesNotMatter() throws {
        let format = try format(
            "{ magic: { type: u16, equals: 0x0102 } }, { mask: u32 }", Self.rules[0], more: "byteOrder: auto")
        let mask: [UInt8] = [1, 2, 3, 4]
        let (big, little): ([UInt8], [UInt8]) = ([1, 2] + mask + [0, 5], [2, 1] + mask + [5, 0])
        for head in [big, little] {
            #expect(try traceLine(head + masked("Hello", mask), format).contains(#""text":"Hello""#))
        }
    }

    /// A frame that is written by hand has the keys that its header gets.
    @Test func aKeyMayBeAConstant() throws {
        for rule in Self.rules {
            let format = try format("{ mask: { type: u16, equals: 0x1234 } }", rule)
            let bytes = [0x12, 0x34, 0, 5] + masked("Hello", [0x12, 0x34])
            #expect(try rebuilt(#"{"body":{"text":"Hello"}}"#, format) == bytes, "\(rule)")
        }
    }
}
