import Streams
import Testing

@testable import Framing

/// Lines written by hand, which have a type instead of the field that names it.
@Suite struct TypedLineTests {
    private static let sized = """
        format: sized
        header: [{ size: u16 }, { kind: { type: u8, names: { 1: txt, 2: img } } }]
        framing: { rule: length-field, field: size, counts: body }
        frame: { type: kind }
        body: text
        """

    private func encode(_ line: String, _ format: Format) throws -> [UInt8] {
        let frame = try #require(try FrameLine(parsing: Array(line.utf8).span.bytes))
        return try format.encode(frame, from: .fromClient)
    }

    @Test func theTypeSetsItsField() throws {
        let format = try FormatLoader.load(Self.sized, file: "sized.yaml")
        let body = #""body":{"text":"Hi"}"#
        for (line, kind) in [
            (#"{"type":"txt",\#(body)}"#, 1), (#"{"type":"img",\#(body)}"#, 2), (#"{"type":"7",\#(body)}"#, 7),
            (#"{\#(body)}"#, 0),
            // What is given is not changed.
            (#"{"type":"txt","fields":{"kind":"img"},\#(body)}"#, 2),
            (#"{"type":"txt","fields":{"kind":5},\#(body)}"#, 5),
        ] as [(String, UInt8)] {
            #expect(try encode(line, format) == [0, 2, kind] + Array("Hi".utf8), "\(line)")
        }
        let unknown = #expect(throws: EncodingError.self) { try encode(#"{"type":"nope",\#(body)}"#, format) }
        let expected = "expected one of img, txt, or a number that fits 1 byte"
        #expect(unknown?.description == "kind is \"nope\"; \(expected)")
        #expect(unknown?.withoutValues == "kind does not fit: \(expected)")
        let large = #expect(throws: EncodingError.self) { try encode(#"{"fields":{"kind":300},\#(body)}"#, format) }
        #expect(large?.description == "kind is 300; expected a number that fits 1 byte")
    }

    @Test(arguments: [#""inn""#, "1", "null"]) func aLegThatDoesNotExistIsRefused(leg: String) throws {
        let format = try FormatLoader.load(Self.sized, file: "sized.yaml")
        for leg in ["in", "out"] { #expect(try encode(#"{"leg":"\#(leg)"}"#, format) == [0, 0, 0]) }
        let error = #expect(throws: EncodingError.self) { try encode(#"{"leg":\#(leg)}"#, format) }
        #expect(error?.description == "leg is \(leg); expected in or out")
    }

    @Test func aHeadOfJSONGetsItsType() throws {
        let format = try FormatLoader.load(try #require(BuiltInFormats.yaml(of: "im-json")), file: "im-json.yaml")
        let typed = try encode(#"{"type":"txt","body":{"text":"Hi"}}"#, format)
        let given = try encode(#"{"fields":{"type":"txt"},"body":{"text":"Hi"}}"#, format)
        #expect(typed == given)
    }

    @Test func aKindThatDoesNotExistIsRefused() throws {
        let size = "framing: { rule: length-field, field: size, counts: body }"
        let yaml = """
            format: kinds
            oneOf:
              - { name: short, header: [{ mark: { type: u8, equals: 1 } }, { size: u8 }], \(size) }
              - { name: long, header: [{ mark: { type: u8, equals: 2 } }, { size: u16 }], \(size) }
            """
        let format = try FormatLoader.load(yaml, file: "kinds.yaml")
        #expect(try encode(#"{"type":"short","body":{"hex":"00"}}"#, format) == [1, 1, 0])
        #expect(try encode(#"{"type":"long","body":{"hex":"00"}}"#, format) == [2, 0, 1, 0])
        #expect(throws: EncodingError.self) { try encode(#"{"type":"none","body":{"hex":"00"}}"#, format) }
    }
}
