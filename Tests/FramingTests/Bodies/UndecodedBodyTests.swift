import Framing
import Streams
import Testing

/// Frames whose bodies could not be decoded, or were decoded to nothing: built again, they are as they were.
@Suite struct UndecodedBodyTests {
    private func format(_ yaml: String, keys: [String: [UInt8]] = [:]) throws -> Format {
        var format = try FormatLoader.load(
            """
            format: x
            header: [{ length: u16 }]
            framing: { rule: length-field, field: length }
            \(yaml)
            """, file: "x.yaml")
        try format.use(BodyResources(keys: keys))
        return format
    }

    private func expectSameBytes(
        _ body: [UInt8], _ format: Format, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let bytes = [UInt8(body.count >> 8), UInt8(body.count & 255)] + body
        let line = try traceLine(bytes, format)
        #expect(try rebuilt(line, format) == bytes, "\(line)", sourceLocation: sourceLocation)
    }

    @Test(arguments: [
        ("[base64, text]", "no Base64!"), ("base64", "Zg="), ("[base16, hex]", "0g"), ("gzip", "abc"),
        ("[zlib, text]", "abc"), ("[deflate, json]", "\u{7f}"), ("zstd", "abc"), ("[base64, gzip, text]", "AQID"),
        ("{ blocks: { checksum: CRC-16/DNP, size: 4 } }", "abcdefgh"), ("[base64, json]", "{1"), ("json", "{1"),
        // Nothing is wrapped in nothing.
        ("[gzip, hex]", ""), ("base64", ""),
    ])
    func whatCouldNotBeDecodedIsAsItCame(chain: String, body: String) throws {
        try expectSameBytes(Array(body.utf8), try format("body: \(chain)"))
    }

    @Test(arguments: ["[gzip, text]", "gzip", "[zlib, json]", "[deflate, hex]", "[base16, gzip]"])
    func nothingIsWrappedAgain(chain: String) throws {
        let format = try format("body: \(chain)")
        let body = try format.directions.fromClient.body.encode(.text(""), type: nil, length: 1)
        #expect(!body.isEmpty)
        try expectSameBytes(body, format)
        // Without a length, no bytes are no body.
        #expect(try rebuilt(#"{"body":{"hex":""}}"#, format) == [0, 0])
    }

    /// Neither what no key fits nor what was sent in the clear is encrypted.
    @Test func bodiesThatAreNotEncrypted() throws {
        let keys = ["x": Array("0123456789abcdef".utf8)]
        try expectSameBytes([1, 2, 3, 4, 5], try format("body: [aes, text]", keys: keys))
        try expectSameBytes([1, 2, 3], try format("body: [{ aes: { padding: none } }, text]", keys: keys))
        try expectSameBytes(Array(#"{"a":1}"#.utf8), try format("body: [aes, json]", keys: keys))
        // Without a key, nor is what is in a field.
        for next in ["text", "json"] {
            try expectSameBytes(
                [1, 2, 3], try format("body: { fields: [{ a: { body: [aes, \(next)], size: rest } }] }"))
        }
    }

    /// What somebody writes is encoded, as is what was decoded.
    @Test func bytesAreEncoded() throws {
        let format = try format("body: base64")
        let encoded: [UInt8] = [0, 4] + Array("YWJj".utf8)
        #expect(try rebuilt(#"{"body":{"hex":"616263"}}"#, format) == encoded)
        #expect(try rebuilt(#"{"body":{"length":4,"hex":"616263"}}"#, format) == encoded)
        // Neither has one that was edited the length of the old one.
        #expect(try rebuilt(#"{"body":{"length":40,"hex":"616263"}}"#, format) == encoded)
    }

    @Test(arguments: ["Zg=", "Zg=="]) func bodiesOfFramesInside(text: String) throws {
        let format = try format(
            """
            formats: { in: { header: [{ size: u8 }], framing: { rule: length-field, field: size }, body: base64 } }
            body: { format: { name: in } }
            """)
        try expectSameBytes([UInt8(text.utf8.count)] + Array(text.utf8), format)
    }

    /// A body in a field that could not be decoded is in the bytes that are shown beside it; others do not need these.
    @Test(arguments: ["Zg=", "Zg=="]) func bodiesInFields(text: String) throws {
        let format = try format(
            """
            body: { fields: [{ text: { body: [base64, text], size: u8 } }, { data: { body: base64, size: rest } }] }
            """)
        let body = [UInt8(text.utf8.count)] + Array((text + "YWJj").utf8)
        try expectSameBytes(body, format)
        let line = try traceLine([0, UInt8(body.count)] + body, format)
        #expect(line.contains("\"raw\"") == (text == "Zg="), "\(line)")
    }
}
