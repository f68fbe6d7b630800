import Framing
import Streams
import Testing

/// Protobuf fields that come twice in a message, and have one value (protobuf.dev, "Last one wins").
@Suite struct RepeatedFieldTests {
    /// Field 1 is a number, field 14 a text.
    @Test(arguments: [("08010802", #"{"i32":2}"#), ("720161720162", #"{"text":"b"}"#)])
    func theLastValueCounts(data: String, json: String) throws {
        let schema = try MessageSchema(descriptorSet: bytes(base64: ProtobufBodyTests.descriptorSet))
        let format = try bodies("{ protobuf: { message: Everything } }", BodyResources(schema: schema))
        #expect(try format.show(bytes(hex: data)) == Shown(.protobuf, json))
    }
}
