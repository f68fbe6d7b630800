import Streams
import Testing

@testable import Framing

/// Bodies in fields, and frames of another format in a body: keys, limits and secrets.
@Suite struct InnerBodyTests {
    private func side(_ yaml: String, _ resources: BodyResources = BodyResources()) throws -> DirectionFormat {
        var format = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml")
        try format.use(resources)
        return format.directions.fromClient
    }

    private func json(_ side: DirectionFormat, _ body: [UInt8]) -> (text: String, faults: [String]) {
        let head = [UInt8(body.count >> 8), UInt8(body.count & 255)]
        let decoded = side.decodeBody(of: (head + body).span.bytes, FrameShape(head: 2, body: body.count))
        return (String(decoding: decoded.bytes ?? [], as: UTF8.self), decoded.faults.map(\.message))
    }

    private static let sized = """
        header: [{ length: u16 }]
        framing: { rule: length-field, field: length }

        """
    private static let lines = "formats: { lines: { framing: { rule: delimiter, end: \"\\n\" }, body: text } }\n"

    /// A field and a frame inside are decrypted with the keys that they name.
    @Test func keysAreThoseOfInnerBodiesToo() throws {
        let key = Array("0123456789abcdef".utf8)
        let resources = BodyResources(keys: ["inner": key])
        let field = try side(
            Self.sized + "body: { fields: [{ text: { body: [{ aes: { keyName: inner } }, text], size: rest } }] }",
            resources)
        let plain = try side(Self.sized + "body: [{ aes: { keyName: inner } }, text]", resources)
        let secret = try plain.body.encode(.text("Hello"), type: nil)
        #expect(json(field, secret).text == "{\"text\":\"Hello\"}")
        let format = try FormatLoader.load(
            "format: x\n" + Self.sized
                + "body: { fields: [{ text: { body: [{ aes: { keyName: inner } }], size: rest } }] }",
            file: "x.yaml")
        #expect(format.bodyKeyNames == ["inner"])
        let nested = try side(
            Self.sized + """
                formats:
                  chat:
                    header: [{ size: u8 }]
                    framing: { rule: length-field, field: size }
                    body: [{ aes: { keyName: inner } }, text]
                body: { format: { name: chat } }
                """, resources)
        #expect(json(nested, [UInt8(secret.count)] + secret).text.contains("\"text\":\"Hello\""))
        // A header cannot have one: nobody would decrypt it.
        #expect(throws: FormatFileError.self) {
            try side(
                "header: [{ size: u8 }, { text: { body: [{ aes: { keyName: inner } }], size: size } }]\nframing: { rule: fields }"
            )
        }
    }

    /// A few compressed bytes are millions of frames.
    @Test func framesInsideAreBounded() throws {
        let side = try side(Self.sized + Self.lines + "body: [gzip, { format: { name: lines } }]")
        let plain = try self.side(Self.sized + "body: [gzip]")
        func body(_ count: Int) throws -> [UInt8] {
            try plain.body.encode(.bytes([UInt8](repeating: 10, count: count)), type: nil)
        }
        #expect(json(side, try body(1_000)).text.count(where: { $0 == "{" }) == 3_000)
        let many = try body(1 << 20)
        #expect(many.count < 65_536)
        let shown = json(side, many)
        #expect(shown.text.isEmpty && shown.faults.first?.contains("more than 65536 frames") == true, "\(shown.faults)")
    }

    /// Of many bodies in fields that come out large, those that are too much stay as they are.
    @Test func bodiesInFieldsAreBoundedTogether() throws {
        let side = try side(
            Self.sized
                + "body: { fields: [{ parts: { repeat: rest, of: [{ text: { body: [gzip, text], size: u16 } }] } }] }")
        let plain = try self.side(Self.sized + "body: [gzip]")
        let part = try plain.body.encode(.bytes([UInt8](repeating: 0x61, count: 9 << 20)), type: nil)
        let sized = [UInt8(part.count >> 8), UInt8(part.count & 255)] + part
        let shown = json(side, sized + sized + sized)
        #expect(shown.faults.isEmpty)
        // Two of them take 18 MiB.
        #expect(shown.text.utf8.count < 19 << 20 && shown.text.utf8.count > 18 << 20)
        #expect(shown.text.contains("\"1f8b08"))
    }

    /// The constants of the header decide the byte order, also that of numbers in the body.
    @Test(arguments: [false, true]) func theByteOrderThatConstantsDecide(isLittle: Bool) throws {
        let format = try FormatLoader.load(
            """
            format: x
            byteOrder: auto
            header: [{ magic: { type: u32, equals: 0x01020304 } }, { length: u16 }]
            framing: { rule: length-field, field: length }
            body: { fields: [{ x: u16 }] }
            """, file: "x.yaml")
        let big: [UInt8] = [1, 2, 3, 4, 0, 2, 0, 7]
        let little: [UInt8] = [4, 3, 2, 1, 2, 0, 7, 0]
        let bytes = isLittle ? little : big
        let log = FramedLog()
        let scratch = FramingScratch()
        var framer = format.framers().fromClient
        framer.receive(bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
        let shape = try #require(log.frames.first?.shape)
        let decoded = format.directions.fromClient.decodeBody(of: bytes.span.bytes, shape)
        #expect(String(decoding: decoded.bytes ?? [], as: UTF8.self) == "{\"x\":7}")
    }

    /// Each frame inside is redacted as its format says.
    @Test func secretsOfAFormatInside() throws {
        let format = try FormatLoader.load(
            "format: x\n" + Self.sized + "body: { format: { name: \"example:redis\" } }", file: "x.yaml")
        let side = format.directions.fromClient
        func command(_ words: String...) -> String {
            "*\(words.count)\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
        }
        let body = Array((command("AUTH", "hunter2") + command("GET", "public")).utf8)
        let bytes = [0, UInt8(body.count)] + body
        let decoded = side.decodeBody(of: bytes.span.bytes, FrameShape(head: 2, body: body.count))
        #expect(String(decoding: decoded.bytes ?? [], as: UTF8.self).contains("hunter2"))
        let paths = SecretPaths(format.secrets, from: .fromClient) { _ in true }
        let shown = decoded.redacting(paths.body, of: body.span.bytes)
        let text = String(decoding: shown.bytes ?? [], as: UTF8.self)
        #expect(!text.contains("hunter2") && text.contains("public"), "\(text)")
    }

    /// Names of header lines may be in either case, also inside a body.
    @Test func headerLinesInABodyAreSecretInEitherCase() throws {
        let format = try FormatLoader.load(
            "format: x\n" + Self.sized + """
                body: { fields: [{ headers: { lines: ": ", ends: "\\r\\n" } }] }
                secret: [body.headers.authorization]
                """, file: "x.yaml")
        let body = Array("Authorization: Bearer hunter2\r\nHost: a\r\n\r\n".utf8)
        let bytes = [0, UInt8(body.count)] + body
        let decoded = format.directions.fromClient.decodeBody(
            of: bytes.span.bytes, FrameShape(head: 2, body: body.count))
        let paths = SecretPaths(format.secrets, from: .fromClient) { _ in true }
        let text = String(decoding: decoded.redacting(paths.body, of: body.span.bytes).bytes ?? [], as: UTF8.self)
        #expect(!text.contains("hunter2") && text.contains("Host"), "\(text)")
    }

    /// Only sums and CRCs are numbers.
    @Test func blocksHaveChecksumsThatAreNumbers() {
        #expect(faults(body: "{ blocks: { checksum: md5 } }").first?.contains("expected a sum or a CRC") == true)
        #expect(faults(body: "{ blocks: { checksum: CRC-16/DNP } }").isEmpty)
    }
}
