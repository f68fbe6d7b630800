import Framing
import Streams
import Testing

/// Keys of bodies that are encrypted in some frames.
@Suite struct CaseKeyTests {
    /// The encodings of a case have the user's keys.
    @Test(arguments: [UInt8(1), 0]) func aCaseHasThem(flag: UInt8) throws {
        let yaml = """
            format: mine
            header: [{ locked: u8 }, { length: u8 }]
            framing: { rule: length-field, field: length }
            body: { cases: [{ when: locked == 1, as: [aes, text] }], else: hex }
            """
        let resources = BodyResources(keys: ["mine": Array("0123456789abcdef".utf8)])
        var format = try FormatLoader.load(yaml, file: "mine.yaml")
        try format.use(resources)
        let body = try bodies("[aes, text]", resources).encode(.text("Hello"), type: nil)
        let bytes = [flag, UInt8(body.count)] + body
        let decoded = format.directions.fromClient.decodeBody(
            of: bytes.span.bytes, FrameShape(head: 2, body: body.count))
        let shown = decoded.withBytes(of: body.span.bytes) { $0.copied() }
        #expect(decoded.faults.isEmpty && decoded.form == (flag == 1 ? .text : .opaque))
        #expect(shown == (flag == 1 ? Array("Hello".utf8) : body))
    }
}
