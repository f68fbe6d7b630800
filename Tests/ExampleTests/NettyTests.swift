import Framing
import Streams
import Testing

/// The examples in the documentation of Netty's decoders, as docs/netty.md maps them.
@Suite struct NettyTests {
    private func frames(_ yaml: String, _ bytes: [UInt8], _ parameters: [String: String] = [:]) throws -> [[UInt8]] {
        let rule = try FormatLoader.load("format: netty\n" + yaml, file: "netty.yaml").directions.fromClient.rule
        let seen = SeenFrames(bytes, rule)
        #expect(seen.unframed == [])
        for place in 1..<bytes.count { #expect(SeenFrames(bytes, cuts: [place], rule).frames == seen.frames) }
        return seen.frames.map { Array($0.bytes[$0.shape.head..<$0.shape.head + $0.shape.body]) }
    }

    private let hello = Array("HELLO, WORLD".utf8)

    /// The cases of LengthFieldBasedFrameDecoder's class documentation: the header's fields, the rule, the bytes before the text.
    @Test(
        arguments: [
            // 2 bytes length field at offset 0, do not strip header; and: strip header.
            ("[{ length: u16 }]", "counts: body", [0x00, 0x0c]),
            // 2 bytes length field at offset 0, the length field represents the length of the whole message.
            ("[{ length: u16 }]", "counts: frame", [0x00, 0x0e]),
            // 3 bytes length field at the end of 5 bytes header.
            ("[{ header1: u16 }, { length: u24 }]", "counts: body", [0xca, 0xfe, 0x00, 0x00, 0x0c]),
            // 3 bytes length field at the beginning of 5 bytes header.
            ("[{ length: u24 }, { header1: u16 }]", "counts: body", [0x00, 0x00, 0x0c, 0xca, 0xfe]),
            // 2 bytes length field at offset 1 in the middle of 4 bytes header, strip the first header field and the length field.
            ("[{ header1: u8 }, { length: u16 }, { header2: u8 }]", "counts: body", [0xca, 0x00, 0x0c, 0xfe]),
            // The same, the length field represents the length of the whole message.
            ("[{ header1: u8 }, { length: u16 }, { header2: u8 }]", "counts: frame", [0xca, 0x00, 0x10, 0xfe]),
        ] as [(String, String, [UInt8])])
    func lengthFieldBasedFrameDecoder(header: String, counts: String, prefix: [UInt8]) throws {
        let yaml = "header: \(header)\nframing: { rule: length-field, field: length, \(counts) }"
        let message = prefix + hello
        #expect(try frames(yaml, message + message) == [hello, hello])
    }

    /// Netty's own numbers, unchanged: lengthAdjustment is relative to the end of the length field.
    @Test(
        arguments: [
            (0, 2, 0, [0x00, 0x0c]), (0, 2, -2, [0x00, 0x0e]), (2, 3, 0, [0xca, 0xfe, 0x00, 0x00, 0x0c]),
            (0, 3, 2, [0x00, 0x00, 0x0c, 0xca, 0xfe]), (1, 2, 1, [0xca, 0x00, 0x0c, 0xfe]),
            (1, 2, -3, [0xca, 0x00, 0x10, 0xfe]),
        ] as [(Int, Int, Int, [UInt8])])
    func theRuleOnItsOwnTakesNettysNumbers(offset: Int, size: Int, adjustment: Int, prefix: [UInt8]) throws {
        let parameters = [
            "offset": "\(offset)", "size": "\(size)", "counts": "rest", "adjust": "\(adjustment)",
        ]
        let format = try #require(try BuiltInFormats.format(named: "length-field", parameters: parameters))
        let message = prefix + hello
        let seen = SeenFrames(message + message, format.directions.fromClient.rule)
        #expect(seen.frames.map(\.bytes) == [message, message] && seen.unframed == [])
    }

    @Test func littleEndianAndLongLengths() throws {
        for (type, prefix) in [("u32", [12, 0, 0, 0]), ("u64", [12, 0, 0, 0, 0, 0, 0, 0])] as [(String, [UInt8])] {
            let yaml = "byteOrder: little\nheader: [{ n: \(type) }]\nframing: { rule: length-field, field: n }"
            #expect(try frames(yaml, prefix + hello) == [hello])
        }
    }

    @Test func delimiterBasedFrameDecoder() throws {
        // The documentation's example: ABC\nDEF\r\n is ABC and DEF whichever of the two delimiters comes first.
        let bytes = Array("ABC\nDEF\r\n".utf8)
        #expect(
            try frames("framing: { rule: delimiter, end: [\"\\r\\n\", \"\\n\"] }", bytes)
                == ["ABC", "DEF"].map { Array($0.utf8) })
        #expect(try frames("framing: { rule: delimiter, end: \"\\0\" }", Array("a\0b\0".utf8)) == [[0x61], [0x62]])
    }

    @Test func fixedLengthFrameDecoder() throws {
        // A, BC, DEFG, HI is decoded to ABC, DEF, GHI.
        #expect(
            try frames("framing: { rule: fixed, size: 3 }", Array("ABCDEFGHI".utf8))
                == ["ABC", "DEF", "GHI"].map { Array($0.utf8) })
    }

    @Test func jsonObjectDecoder() throws {
        let texts = ["{\"a\":[1,\"}\"]}", "[{},{}]"]
        #expect(
            try frames("framing: { rule: json-sequence }", Array(texts.joined(separator: "\n").utf8))
                == texts.map { Array($0.utf8) })
    }

    @Test func protobufVarint32FrameDecoder() throws {
        // The documentation's example: 300 bytes of data after ac 02.
        let data = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let yaml = "header: [{ length: { type: varint, max: 5 } }]\nframing: { rule: length-field, field: length }"
        #expect(try frames(yaml, [0xac, 0x02] + data + [0x01, 0x07]) == [data, [0x07]])
    }
}
