import Streams
import Testing

@testable import Framing
@testable import Trace

/// Which values of a frame findings and traces hide.
@Suite struct FrameSecretsTests {
    /// A rule may have moved a secret anywhere in the head of a frame that it changed: no field of it is shown.
    @Test(arguments: [false, true]) func changedHeadsShowNoField(isChanged: Bool) throws {
        let format = try FormatLoader.load(
            """
            format: keyed
            header: [{ key: u8 }, { number: u8 }, { length: u8 }]
            framing: { rule: length-field, field: length }
            secret: [fields.key]
            """, file: "keyed.yaml")
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        let connection = TracedConnection(
            Opening(number: 1, time: start, client: end, server: end, handshake: true, clientGuessed: false))
        connection.recognise(format, FormatChoice(by: .content, evidence: ""))
        let kinds = try #require(connection.kinds(of: .fromClient))
        let info = FrameInfo(
            index: 0, offset: 0, shape: FrameShape(head: 3, body: 0), started: start, time: start, segments: 1,
            merged: false, position: 1, companions: 1, missing: 0, packet: 0)
        var frame = TracedFrame(info: info, direction: .fromClient, isHeartbeat: false)
        frame.isChanged = isChanged
        let bytes: [UInt8] = [7, 8, 0]
        func hides(_ place: ValuePlace) -> Bool { FrameSecrets.hide(place, of: frame, bytes.span.bytes, kinds) }
        #expect(hides(.field("key")) && hides(.inField(["key", "part"])))
        #expect(hides(.field("number")) == isChanged && hides(.inField(["number", "part"])) == isChanged)
        #expect(!hides(.body(["text"])))
    }
}
