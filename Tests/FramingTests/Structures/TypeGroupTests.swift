import Streams
import Testing

@testable import Framing

/// The file's types where a list of items may stand.
@Suite struct TypeGroupTests {
    private func side(_ yaml: String) throws -> DirectionFormat {
        try FormatLoader.load("format: x\ntypes: { point: [{ x: u8 }, { y: u8 }] }\n" + yaml, file: "x.yaml")
            .directions.fromClient
    }

    private func fault(_ yaml: String) -> String {
        do {
            _ = try side(yaml)
            return ""
        } catch { return "\(error)" }
    }

    /// `- fields: point` shows the fields of the type, to which what follows may refer.
    @Test func aGroupMayBeAType() throws {
        let side = try side(
            "header: [{ n: u8 }, { fields: point }, { sum: { value: x + y } }]\nframing: { rule: fields }")
        let bytes: [UInt8] = [1, 2, 3]
        #expect(
            side.fields(of: bytes.span.bytes, FrameShape(head: 3, body: 0))
                == [("n", 1), ("x", 2), ("y", 3), ("sum", 5)].map { Field($0.0, .integer($0.1)) })
    }

    @Test func aGroupOfATypeMayHaveACondition() throws {
        let side = try side("header: [{ n: u8 }, { fields: point, when: n == 1 }]\nframing: { rule: fields }")
        let (with, without): ([UInt8], [UInt8]) = ([1, 2, 3], [0])
        #expect(side.fields(of: with.span.bytes, FrameShape(head: 3, body: 0)).map(\.name) == ["n", "x", "y"])
        #expect(side.fields(of: without.span.bytes, FrameShape(head: 1, body: 0)).map(\.name) == ["n"])
    }

    @Test(arguments: [
        "body: { fields: point }", "body: { fields: { of: point } }", "body: { fields: [{ fields: point }] }",
        "body: { byType: { a: { fields: point } }, else: { fields: point } }",
    ]) func aBodyMayBeAType(body: String) throws {
        let side = try side(
            "header: [{ n: u8 }]\nframing: { rule: length-field, field: n }\nframe: { type: n }\n" + body)
        let bytes: [UInt8] = [3, 2, 3, 4]
        let decoded = side.decodeBody(of: bytes.span.bytes, FrameShape(head: 1, body: 3))
        let text = try #require(decoded.bytes)
        #expect(String(decoding: text, as: UTF8.self) == #"{"x":2,"y":3,"rest":"04"}"#)
    }

    /// A field may be called `fields`; a type that does not exist is named.
    @Test func otherMeanings() throws {
        let side = try side("header: [{ fields: u16 }]\nframing: { rule: fields }")
        let bytes: [UInt8] = [1, 2]
        #expect(side.fields(of: bytes.span.bytes, FrameShape(head: 2, body: 0)) == [Field("fields", .integer(258))])
        #expect(
            fault("header: [{ n: u8 }, { fields: pont, when: n == 1 }]\nframing: { rule: fields }")
                .contains("there is no type pont; did you mean point?"))
        #expect(
            fault("framing: { rule: fixed, size: 4 }\nbody: { fields: pont }")
                .contains("there is no type pont; did you mean point?"))
    }
}
