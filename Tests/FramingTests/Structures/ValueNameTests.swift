import Framing
import Streams
import Testing

/// Names of values of structured bodies, as frames' types.
@Suite struct ValueNameTests {
    private static let yaml = """
        format: x
        header: [{ n: u8 }]
        framing: { rule: length-field, field: n }
        names: { commands: { 1: open, 2: close } }
        body:
          fields:
            - k: { type: u8, names: commands, bits: { 7: { name: sign, names: { 0: plus, 1: minus } } } }
            - list: { repeat: u8, of: [{ code: { type: u8, names: commands } }, { more: u8 }] }
            - flat: { repeat: u8, of: [{ code: { type: u8, names: commands } }] }
            - group: { fields: [{ inner: { type: u8, names: commands } }] }
            - text: { type: string, size: rest }
        """

    private func side(_ type: String) throws -> DirectionFormat {
        try FormatLoader.load(Self.yaml + "\nframe: { type: \(type) }", file: "x.yaml").directions.fromClient
    }

    @Test(
        arguments: [
            ("body.fields.k", "open"), ("body.k", "open"), ("[body.k]", "open"), ("body.sign", "plus"),
            ("'body.list[0].code'", "close"), ("'body.list[0].more'", "9"), ("'body.flat[1]'", "7"),
            ("'body.flat[0]'", "open"), ("body.group.inner", "close"), ("body.fields.text", "hi"),
            ("'body.list[1].code'", nil),
        ] as [(String, String?)]) func aValueOfTheBodyNamesTheType(type: String, name: String?) throws
    {
        let body: [UInt8] = [1, 1, 2, 9, 2, 1, 7, 2, 0x68, 0x69]
        let bytes = [UInt8(body.count)] + body
        let shape = FrameShape(head: 1, body: body.count)
        #expect(try side(type).type(of: bytes.span.bytes, shape) == name)
    }

    /// What JSON has at a place is known only when it comes.
    @Test(arguments: [#"{"msg":{"id":1}}"#, #"{"msg":[1]}"#, "{}"]) func aListOrAnObjectIsNoTypeOfJSON(body: String)
        throws
    {
        let yaml = """
            format: x
            framing: { rule: delimiter, end: "\\n" }
            body: json
            frame: { type: [body.msg, { is: other }] }
            """
        let side = try FormatLoader.load(yaml, file: "x.yaml").directions.fromClient
        let shape = FrameShape(head: 0, body: body.utf8.count, tail: 1)
        #expect(side.type(of: Array("\(body)\n".utf8).span.bytes, shape) == "other")
    }

    @Test(arguments: ["body.list", "body.group", "[body.fields.list]"]) func listsAndObjectsNameNone(type: String) {
        let error = #expect(throws: FormatFileError.self) { try side(type) }
        #expect(error.map { "\($0)".contains("a list or an object; expected a value in it") } == true)
    }
}
