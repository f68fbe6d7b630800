import Framing
import Streams
import Testing

/// Frames inside a body that could not be read, or not all of them: they may hold secrets of their format.
@Suite struct UnreadInnerFrameTests {
    private static let redis = "{ format: { name: \"example:redis\" } }"
    private static let digits = hex(Array("hunter2".utf8))

    /// A body as it came, and without its secrets.
    private func shown(
        _ chain: String, _ body: [UInt8], from sender: Direction = .fromClient, keys: [String: [UInt8]] = [:]
    ) throws -> (all: String, redacted: String) {
        var format = try FormatLoader.load(
            """
            format: x
            header: [{ length: u16 }]
            framing: { rule: length-field, field: length }
            body: \(chain)
            """, file: "x.yaml")
        try format.use(BodyResources(keys: keys))
        let bytes = [UInt8(body.count >> 8), UInt8(body.count & 255)] + body
        let decoded = format.directions[sender].decodeBody(
            of: bytes.span.bytes, FrameShape(head: 2, body: body.count))
        let paths = SecretPaths(format.secrets, from: sender) { _ in true }
        let redacted = decoded.redacting(paths.body, of: body.span.bytes)
        return (
            String(decoding: decoded.bytes ?? [], as: UTF8.self), String(decoding: redacted.bytes ?? [], as: UTF8.self)
        )
    }

    /// A command whose end is missing is hidden, and the one before it is shown.
    @Test(arguments: [redis, "{ fields: [{ id: u8 }, { frames: { body: \(redis), size: rest } }] }"])
    func bytesThatBelongToNoFrame(chain: String) throws {
        let commands = Array("*2\r\n$3\r\nGET\r\n$6\r\npublic\r\n*2\r\n$4\r\nAUTH\r\n$7\r\nhunter2".utf8)
        let before: [UInt8] = chain == Self.redis ? [] : [7]
        let (all, redacted) = try shown(chain, before + commands)
        #expect(all.contains(Self.digits), "\(all)")
        #expect(redacted.contains("public") && redacted.contains(#""unframed":"«secret»""#), "\(redacted)")
        #expect(!redacted.contains(Self.digits) && !redacted.contains("hunter2"), "\(redacted)")
    }

    /// A header that its fields do not describe is given as it came, too, with the secrets that they have.
    @Test func theBytesOfAHeader() throws {
        // There is no space after the second colon.
        let request = "GET /public HTTP/1.1\r\nAuthorization: Bearer hunter2\r\nX-Tag:7\r\n\r\n"
        let (all, redacted) = try shown("{ format: { name: \"example:http\" } }", Array(request.utf8))
        #expect(all.contains(Self.digits), "\(all)")
        #expect(redacted.contains("/public") && redacted.contains(#""raw":"«secret»""#), "\(redacted)")
        #expect(!redacted.contains(Self.digits) && !redacted.contains("hunter2"), "\(redacted)")
    }

    /// Where in it the password is, is only known of JSON: all of what has a mistake is hidden.
    @Test(arguments: [("", #""password":"«secret»""#), (",", #""body":"«secret»""#)])
    func aBodyThatShouldBeJSON(mistake: String, expected: String) throws {
        let key = Array("0123456789abcdef".utf8)
        let json = #"{"user":"public","password":"hunter2"\#(mistake)}"#
        let body = try bodies("[aes, json]", BodyResources(keys: ["mine": key])).encode(.text(json), type: nil)
        // Magic number, version, JSON, login, the body's length.
        let frame = [0x20, 0x17, 0x08, 0x17, 1, 1, 1, 0, 0, 0, UInt8(body.count)] + body
        let (all, redacted) = try shown(
            "{ format: { name: im-magic } }", frame, from: .fromServer, keys: ["im-magic": key])
        #expect(all.contains("hunter2"), "\(all)")
        #expect(redacted.contains(#""type":"login""#) && redacted.contains(expected), "\(redacted)")
        #expect(!redacted.contains("hunter2") && redacted.contains("public") == mistake.isEmpty, "\(redacted)")
    }
}
