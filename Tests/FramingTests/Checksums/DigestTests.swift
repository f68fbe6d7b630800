import Framing
import Streams
import Testing

/// Fields that hold a hash of the frame, by itself or with a key.
@Suite struct DigestTests {
    private func format(_ field: String, keys: [String: [UInt8]] = [:]) throws -> Format {
        var format = try FormatLoader.load(
            """
            format: x
            header: [{ n: u8 }]
            trailer: [{ mac: \(field) }]
            framing: { rule: length-field, field: n, counts: body }
            """, file: "x.yaml")
        try format.use(BodyResources(keys: keys))
        return format
    }

    /// RFC 2202 and RFC 4231, test case 2: the key "Jefe", as much of it as the field has.
    @Test(arguments: [
        ("hmac-md5", 16, "750c783e6ab0b503eaa86e310a5db738"),
        ("hmac-sha-1", 20, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        ("hmac-sha-256", 16, "5bdcc146bf60754e6a042426089575c7"),
        ("hmac-sha-512", 8, "164b7a7bfcf819e2"),
        ("md5", 16, "d03cb659cbf9192dcd066272249f8412"),
    ])
    func valuesOfTheSpecifications(name: String, size: Int, expected: String) throws {
        let keyed = name.hasPrefix("hmac")
        let format = try format(
            "{ type: bytes, size: \(size), checksum: \(name), over: [body, end]\(keyed ? ", keyName: k" : "") }",
            keys: keyed ? ["k": Array("Jefe".utf8)] : [:])
        let side = format.directions.fromClient
        let body = Array("what do ya want for nothing?".utf8)
        var bytes = try side.encode([], body: body)
        let shape = FrameShape(head: 1, body: body.count, tail: size)
        #expect(side.layouts[0].checksums(of: bytes.span.bytes, shape).map(\.found) == [expected])
        #expect(side.layouts[0].checksums(of: bytes.span.bytes, shape).map(\.expected) == [expected])
        bytes[3] ^= 1
        let broken = side.layouts[0].checksums(of: bytes.span.bytes, shape)
        #expect(broken.count == 1 && broken[0].found != broken[0].expected)
    }

    @Test func digitsMayHoldIt() throws {
        let format = try format("{ type: string, size: 32, checksum: md5, over: [body, end] }")
        let bytes = try format.directions.fromClient.encode([], body: Array("abc".utf8))
        #expect(String(decoding: bytes.suffix(32), as: UTF8.self) == "900150983cd24fb0d6963f7d28e17f72")
    }

    /// Without its key nothing is judged, and what is given is kept.
    @Test func withoutItsKeyItIsNotChecked() throws {
        let format = try format("{ type: bytes, size: 4, checksum: hmac-sha-256 }")
        #expect(format.bodyKeyNames == ["x"])
        let side = format.directions.fromClient
        let bytes = try side.encode([Field("mac", .bytes([1, 2, 3, 4]))], body: [7])
        #expect(bytes == [1, 7, 1, 2, 3, 4])
        #expect(side.layouts[0].checksums(of: bytes.span.bytes, FrameShape(head: 1, body: 1, tail: 4)).isEmpty)
    }

    @Test(arguments: [
        ("{ type: u32, checksum: hmac-sha-256 }", "hmac-sha-256 needs a field of type bytes with a size of at most 32"),
        ("{ type: bytes, size: 17, checksum: md5 }", "md5 needs a field of type bytes with a size of at most 16"),
        ("{ type: bytes, size: 16, checksum: md5, keyName: k }", "md5 uses no key"),
        ("{ type: bytes, size: 2, checksum: sum16 }", "a checksum needs a field of type u8 to u64"),
    ])
    func faultsAreNamed(field: String, text: String) {
        let error = #expect(throws: FormatFileError.self) { try format(field) }
        #expect(error.map { "\($0)".contains(text) } ?? false, "\(String(describing: error))")
    }
}
