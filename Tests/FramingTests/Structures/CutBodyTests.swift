import Streams
import Testing

@testable import Framing

/// Structured bodies that end early.
@Suite struct CutBodyTests {
    /// A body that ends anywhere, as the first piece of a longer message does, can be written again; and one whose values were
    /// changed is written by its values.
    @Test func aBodyThatIsCutIsWrittenAgain() throws {
        let yaml = """
            types:
              property: [{ name: { type: string, size: u8 } }, { value: { use: value } }, ";"]
              value: { oneOf: [["n", { number: u16 }], ["o", { object: { until: "..", of: property } }], ["l", { list: { repeat: u8, of: value } }]] }
            header: [{ length: u8 }]
            framing: { rule: length-field, field: length }
            body: { fields: [{ values: { repeat: rest, size: rest, of: value } }] }
            """
        let side = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
        let whole =
            Array("n00o".utf8) + [1] + Array("ao".utf8) + [2] + Array("bbn00;..;".utf8) + [1] + Array("cl".utf8) + [2]
            + Array("n11n22;..n33".utf8)
        for count in 1...whole.count {
            let body = Array(whole.prefix(count))
            let bytes = [UInt8(count)] + body
            let decoded = side.decodeBody(of: bytes.span.bytes, FrameShape(head: 1, body: count))
            let text = try #require(decoded.bytes)
            let json = JSONValue(compact: text.span.bytes)
            let context = BodyContext(type: nil)
            let encoding = try #require(side.body.otherwise.encodings.last as? FieldsBody)
            #expect(
                try encoding.encode(.fields(Array(json.compactText.utf8)), context) == body, "\(json.compactText)")
            // The first value becomes another one.
            let changed = json.compactText.replacing("\"number\":12336", with: "\"number\":12345")
            guard changed != json.compactText else { continue }
            let hidden = decoded.redacting([["fields", "values"]], of: body.span.bytes)
            #expect(hidden.bytes.map { !String(decoding: $0, as: UTF8.self).contains("3030") } == true)
            #expect(try encoding.encode(.fields(Array(changed.utf8)), context).prefix(3) == Array("n09".utf8)[...])
        }
    }
}
