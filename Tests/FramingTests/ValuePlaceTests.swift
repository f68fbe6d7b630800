import Framing
import Streams
import Testing

/// Values of the body that name a frame's sender, receiver and id.
@Suite struct ValuePlaceTests {
    private func fault(_ yaml: String) -> String {
        do throws(FormatFileError) {
            _ = try FormatLoader.load(yaml, file: "f.yaml")
            return "none"
        } catch { return "\(error)" }
    }

    private func chat(_ frame: String, body: String = "json", relay: String = "") -> String {
        """
        format: chat
        framing: { rule: json-sequence }
        frame: { type: body.kind\(frame) }
        body: \(body)
        relay: { sent: type == "chat", received: type == "chat"\(relay) }
        """
    }

    @Test func bodiesNameSendersAndReceivers() throws {
        let format = try FormatLoader.load(
            chat(", from: body.user.name, to: 'body.json.to[1]'", relay: ", id: body.id"), file: "f.yaml")
        let text = Array(#"{"kind":"chat","user":{"name":"ann"},"to":["x","ben"],"id":7}"#.utf8)
        let side = format.directions.fromClient
        let shape = FrameShape(head: 0, body: text.count)
        #expect(side.type(of: text.span.bytes, shape) == "chat")
        #expect(side.origin(of: text.span.bytes, shape) == "ann")
        #expect(side.target(of: text.span.bytes, shape) == "ben")
        #expect(format.relay?.id == .body(["id"]))
    }

    @Test func whatBodiesCannotHaveIsAFault() {
        #expect(fault(chat(", from: body.me, to: body.to")) == "none")
        #expect(fault(chat(", from: body.me, to: body.to", body: "text")).contains("body.to, but bodies are text"))
        #expect(
            fault(chat(", from: body.me, to: body.to", body: "hex")).contains("bodies are hex, which has no values"))
        #expect(fault(chat(", from: body.json, to: body.to")).contains("body.json is all of the body"))
        #expect(fault(chat(", from: 'body.a[', to: body.to")).contains("expected a path such as body.user"))
        #expect(fault(chat(", from: body.text, to: body.to")).contains("body.text, but bodies are json"))
    }

    @Test func aRelayNeedsAReceiver() {
        let lacks = fault(chat(""))
        #expect(lacks.contains("f.yaml:5:8: relay needs to know who a message is for: the client's frame lacks to"))
        #expect(lacks.contains("whose connection is whose"))
        #expect(fault(chat(", from: body.me")).contains("lacks to"))
        #expect(fault(chat(", to: body.to")) == "none", "the server's frames name the receiver, too")
        #expect(fault(chat(", from: body.me, to: body.to", relay: ", id: fields.id")).contains("has no field id"))
        #expect(fault(chat(", from: body.me, to: body.to", relay: ", id: number")).contains("expected fields.NAME"))
    }

    @Test func pairsNameValuesOfBothSides() {
        func pairs(_ by: String) -> String {
            """
            format: ask
            client: { header: [{ id: u8 }, { length: u8 }], framing: { rule: length-field, field: length } }
            server: { header: [{ number: u8 }, { length: u8 }], framing: { rule: length-field, field: length } }
            body: json
            pairs: [{ request: from == client, from: client, answer: from == server, \(by) }]
            """
        }
        #expect(fault(pairs("by: body.id")) == "none")
        #expect(fault(pairs("by: body")) == "none")
        #expect(fault(pairs("by: fields.id")).contains("the server's header has no field id; known are number"))
        #expect(
            fault(pairs("by: id")).contains("by is id; expected order, type, body, fields.NAME or a value of the body"))
        #expect(fault(pairs("optional: true")).contains("lacks within"))
    }

    /// The names of forms are listed for people, and compared one by one.
    @Test func namesOfForms() {
        for name in BodyFormat.formNames { #expect(BodyFormat.isForm(name)) }
        for name in ["", "hex", "JSON", "tex", "text2", "field"] { #expect(!BodyFormat.isForm(name)) }
        #expect(BodyFormat.formNames.count == 4)
    }
}
