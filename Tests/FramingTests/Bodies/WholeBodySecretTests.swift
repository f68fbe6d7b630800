import Framing
import Streams
import Testing

/// Secrets that are a whole body.
@Suite struct WholeBodySecretTests {
    private static let forms: [(String, String, [UInt8])] = [
        ("text", "text", Array("hunter2".utf8)), ("json", "json", Array(#"{"password":"hunter2"}"#.utf8)),
        ("protobuf", "protobuf", [0x0a, 7] + Array("hunter2".utf8)),
        ("fields", "{ fields: [{ password: { type: string, size: rest } }] }", Array("hunter2".utf8)),
    ]

    /// A body as it was decoded, and without a secret.
    private func shown(
        _ chain: String, secret: String, _ body: [UInt8]
    ) throws -> (all: DecodedBody, redacted: DecodedBody) {
        let format = try FormatLoader.load(
            """
            format: x
            header: [{ length: u8 }]
            framing: { rule: length-field, field: length }
            body: \(chain)
            secret: [\(secret)]
            """, file: "x.yaml")
        let bytes = [UInt8(body.count)] + body
        let decoded = format.directions.fromClient.decodeBody(
            of: bytes.span.bytes, FrameShape(head: 1, body: body.count))
        let paths = SecretPaths(format.secrets, from: .fromClient) { _ in true }
        return (decoded, decoded.redacting(paths.body, of: body.span.bytes))
    }

    /// The name of a body's form alone is all of it, as `body` is.
    @Test(arguments: forms) func areNamedByTheirFormToo(form: String, chain: String, body: [UInt8]) throws {
        let (all, redacted) = try shown(chain, secret: "body.\(form)", body)
        #expect("\(all.form)" == form)
        let text = all.withBytes(of: body.span.bytes) { String(decoding: $0.copied(), as: UTF8.self) }
        #expect(text.contains("hunter2"), "\(text)")
        #expect(redacted.form == .text && redacted.bytes == Array(JSONRedaction.mark.utf8))
        #expect(try shown(chain, secret: "body", body).redacted == redacted)
    }
}
