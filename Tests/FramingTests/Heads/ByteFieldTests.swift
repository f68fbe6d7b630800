import Expressions
import Streams
import Testing

@testable import Framing

/// Fields of the type `bytes` name types, senders and receivers by their hex digits, in heads and in bodies.
@Suite struct ByteFieldTests {
    private static let head =
        "header: [{ n: u8 }, { kind: { type: bytes, size: 2 } }]\nframing: { rule: length-field, field: n, counts: body }\n"

    private func side(_ yaml: String) throws -> DirectionFormat {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
    }

    @Test(arguments: [
        head + "frame: { type: kind, from: kind, to: kind }",
        head + "frame: { type: [kind], from: kind, to: kind }",
        head.replacing("rule: length-field, field: n, counts: body", with: "rule: fields, body: n")
            + "frame: { type: kind, from: kind, to: kind }",
    ]) func namesAreHexDigits(yaml: String) throws {
        let side = try side(yaml)
        let bytes: [UInt8] = [1, 0x0a, 0xff, 7]
        let shape = FrameShape(head: 3, body: 1)
        #expect(side.type(of: bytes.span.bytes, shape) == "0aff")
        #expect(side.origin(of: bytes.span.bytes, shape) == "0aff")
        #expect(side.target(of: bytes.span.bytes, shape) == "0aff")
    }

    /// Both literals match, in headers and in bodies.
    @Test func conditionsMatchInBothPlaces() throws {
        let side = try side(Self.head + "body: { fields: [{ code: { type: bytes, size: 2 } }] }")
        let bytes: [UInt8] = [2, 0x02, 0x00, 0x02, 0x00]
        let shape = FrameShape(head: 3, body: 2)
        let values = FrameValues(info: FrameInfo(of: shape), direction: .fromClient)
        for place in ["fields.kind", "body.code", "body.fields.code"] {
            for literal in [#""0200""#, #"x"0200""#] {
                for (relation, holds) in [("==", true), ("!=", false)] {
                    let condition = try Expression(parsing: "\(place) \(relation) \(literal)")
                    #expect(
                        values.fulfil(condition, content: bytes.span.bytes, shape: shape, format: side) == holds,
                        "\(condition)")
                }
            }
        }
    }
}
