import Streams
import Testing

@testable import Framing

/// Structured bodies with numbers that JSON does not have.
@Suite struct LossyBodyTests {
    /// They are written as they were: they are shown as they came, too.
    @Test(arguments: [0x7fc0_0000, 0x7f80_0000, 0xff80_0000, 0x7f80_0001, 0x3f80_0000] as [UInt32])
    func whatIsNoNumberIsWrittenAgain(bits: UInt32) throws {
        let yaml = """
            format: x
            header: [{ n: u8 }]
            framing: { rule: length-field, field: n }
            body: { fields: [{ x: f32 }, { list: { repeat: rest, of: [{ f: f32 }] } }] }
            """
        let side = try FormatLoader.load(yaml, file: "x.yaml").directions.fromClient
        let one = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bits >> $0) }
        let encoding = try #require(side.body.otherwise.encodings.last as? FieldsBody)
        for body in [one, [0x40, 0, 0, 0] + one] {
            let bytes = [UInt8(body.count)] + body
            let decoded = side.decodeBody(of: bytes.span.bytes, FrameShape(head: 1, body: body.count))
            #expect(decoded.faults.isEmpty)
            let text = try #require(decoded.bytes)
            let shown = String(decoding: text, as: UTF8.self)
            #expect(shown.contains(#""raw":"#) == (bits != 0x3f80_0000), "\(shown)")
            #expect(try encoding.encode(.fields(text), BodyContext(type: nil)) == body, "\(shown)")
        }
    }
}
