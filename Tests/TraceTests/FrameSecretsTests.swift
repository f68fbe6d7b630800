import Streams
import Testing

@testable import Framing
@testable import Trace

/// Which values of a frame findings and traces hide.
@Suite struct FrameSecretsTests {
    /// A rule may have moved a secret anywhere in the head of a frame that it changed: no field of it is shown.
    @Test(arguments: [false, true]) func changedHeadsShowNoField(isChanged: Bool) throws {
        let kinds = try kinds(of: keyed())
        var frame = frame(FrameShape(head: 3, body: 0))
        frame.isChanged = isChanged
        let bytes: [UInt8] = [7, 8, 0]
        func hides(_ place: ValuePlace) -> Bool { FrameSecrets.hide(place, of: frame, bytes.span.bytes, kinds) }
        #expect(hides(.field("key")) && hides(.inField(["key", "part"])))
        #expect(hides(.field("number")) == isChanged && hides(.inField(["number", "part"])) == isChanged)
        #expect(!hides(.body(["text"])))
    }

    /// Where no field of a frame is shown, its bytes are not either.
    @Test(arguments: [false, true]) func changedHeadsAreNotDumped(isChanged: Bool) throws {
        let kinds = try kinds(of: keyed())
        var frame = frame(FrameShape(head: 3, body: 0))
        frame.isChanged = isChanged
        let bytes: [UInt8] = [7, 8, 0]
        let secrets = FrameSecrets(of: frame, bytes.span.bytes, kinds)
        #expect(secrets.mayDumpHead([Field("number", .text("8"))]) == !isChanged)
        #expect(!secrets.mayDumpHead([Field("key", .text("7"))]) && secrets.mayDumpHead([]))
        let mayDumpAll = FrameSecrets.mayDump(frame, bytes.span.bytes, kinds)
        #expect(!mayDumpAll)
    }

    /// Text of the network may have quotation marks of its own: all between the outer ones is left out.
    @Test func quotedTextIsLeftOut() {
        func detail(_ text: String, hidingText: Bool = true) -> String {
            UnframedRun(offset: 0, bytes: [1], time: start, reason: .badHead, detail: text)
                .detail(hidingText: hidingText)
        }
        let quoting = #"expected {, got "a"b hunter2" here"#
        #expect(detail(quoting) == #"expected {, got "…" here"#)
        #expect(detail(quoting, hidingText: false) == quoting)
        #expect(detail("3 of 88 head bytes") == "3 of 88 head bytes")
    }

    /// As in redaction, a name applies to all elements of a list, and names of header lines may be in another case.
    @Test(arguments: [
        ("body.items.token", "body.items[0].token", true), ("body.items.token", "body.items[kind=a].token", true),
        ("body.items.token", "body.json.items[0]", true), ("body.items.token", "body.items[0].id", false),
        ("body.items[kind=a].token", "body.items[1].token", true), ("body.items[0].token", "body.items.token", true),
        ("body.items[0]", "body.items[1]", false), ("body.token", "body[2].token", true),
        ("body.5.2", "body.5[0].2", true), ("body.2", "body.1", false), ("body.5.2", "body.protobuf.5.1", false),
        ("fields.headers.X-Session", "fields.headers.x-session", true),
        ("fields.headers.X-Session", "fields.headers.x-session[0]", true),
        ("fields.headers.X-Session", "fields.headers.host", false),
        ("fields.tags[tag=9].value", "fields.tags[0].value", true),
        ("fields.tags[tag=9].value", "fields.tags[TAG=9].VALUE", true),
    ]) func placesAreSecretAsTheyAreRedacted(secret: String, place: String, isHidden: Bool) throws {
        var format = try FormatLoader.load(
            """
            format: listed
            framing: { rule: json-sequence }
            body: json
            """, file: "listed.yaml")
        let path = try #require(ValuePlace.path(secret[...]))
        format.secrets = [Secret(path: path)]
        let wanted = try #require(ValuePlace.path(place[...]))
        let inside = Array(wanted.dropFirst())
        let bytes = Array("{}".utf8)
        let kinds = try kinds(of: format)
        let hides = FrameSecrets.hide(
            wanted[0] == "body" ? .body(inside) : .inField(inside), of: frame(FrameShape(head: 0, body: 2)),
            bytes.span.bytes, kinds)
        #expect(hides == isHidden)
    }

    private func keyed() throws -> Format {
        try FormatLoader.load(
            """
            format: keyed
            header: [{ key: u8 }, { number: u8 }, { length: u8 }]
            framing: { rule: length-field, field: length }
            secret: [fields.key]
            """, file: "keyed.yaml")
    }

    private func kinds(of format: Format) throws -> FrameKinds {
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        let connection = TracedConnection(
            Opening(number: 1, time: start, client: end, server: end, handshake: true, clientGuessed: false))
        connection.recognise(format, FormatChoice(by: .content, evidence: ""))
        return try #require(connection.kinds(of: .fromClient))
    }

    private func frame(_ shape: FrameShape) -> TracedFrame {
        let info = FrameInfo(
            index: 0, offset: 0, shape: shape, started: start, time: start, segments: 1, merged: false, position: 1,
            companions: 1, missing: 0, packet: 0)
        return TracedFrame(info: info, direction: .fromClient, isHeartbeat: false)
    }
}
