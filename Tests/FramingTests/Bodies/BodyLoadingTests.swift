import Framing
import Streams
import Testing

@Suite struct BodyLoadingTests {
    /// `body: ` is on line 3; its value starts in column 7.
    @Test(arguments: [
        ("txt", "3:7: unknown body encoding txt in body; did you mean text?"),
        ("[base64, jsn]", "3:16: unknown body encoding jsn in body; did you mean json?"),
        ("quux", "3:7: unknown body encoding quux in body; known are text, json,"),
        ("[]", "3:7: body is an empty list; expected encodings"),
        ("{ text: {}, json: {} }", "3:7: body should be an encoding such as json, or one with options: "),
        ("[[text]]", "should be an encoding such as json"),
        ("{ gzip: 1 }", "3:15: body.gzip should be a mapping"),
        ("{ gzip: { limit: 0 } }", "3:24: body.gzip.limit is 0; expected a count of bytes"),
        ("{ gzip: { limt: 1 } }", "3:17: unknown key limt in body.gzip; did you mean limit?"),
        ("{ aes: { mode: ctr } }", "3:22: body.aes.mode is ctr; known are ecb, cbc"),
        ("{ aes: { mode: cbc, iv: 00 } }", "3:31: body.aes.iv is 00; expected given, prefix, zero or 32"),
        ("{ aes: { iv: zero } }", "body.aes.iv is for mode: cbc"),
        ("{ text: { charset: utf8 } }", "body.text.charset is utf8; did you mean utf-8?"),
        ("{ byType: { a: nope }, else: text }", "3:22: unknown body encoding nope in body.byType.a"),
        ("{ byTipe: { a: text }, else: text }", "3:9: unknown key byTipe in body; did you mean byType?"),
        ("{ byType: text }", "3:17: body.byType should be a mapping"),
        ("{ encodings: [text], limit: 1 }", "unknown key limit in body"),
        ("[raw, raw, raw, raw, raw, raw, raw, raw, raw]", "body has 9 encodings; 8 are allowed"),
        ("{ protobuf: { mesages: {} } }", "did you mean message"),
    ])
    func mistakesAreSaidWithTheirPlaces(yaml: String, message: String) {
        let said = faults(body: yaml)
        #expect(said.contains { $0.contains(message) }, "\(said)")
    }

    @Test(arguments: [
        "text", "[aes, json]", "{ encodings: [base64, gzip, json] }", "{ text: { charset: gb18030 } }",
        "[{ aes: { mode: cbc, keyName: login, input: base64 } }, json]",
        "{ byType: { img: hex, txt: text }, else: text }",
        "{ protobuf: { messages: { 1: Login, 2: Result } } }",
        "[{ aes: { mode: cbc, iv: 000102030405060708090a0b0c0d0e0f, padding: none } }, { zlib: { limit: 1 MiB } }]",
    ])
    func whatTheDocumentationShowsLoads(yaml: String) {
        #expect(faults(body: yaml) == [])
    }

    @Test func eachDirectionMayHaveItsOwn() throws {
        let format = try FormatLoader.load(
            """
            format: mine
            framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size }
            body: [aes, json]
            client:
              body: text
            """, file: "mine.yaml")
        #expect(format.directions.fromClient.body.isPlain)
        #expect(!format.directions.fromServer.body.isPlain)
        #expect(format.bodyKeyNames == ["mine"])
    }

    /// What bytes mean comes last.
    @Test(arguments: ["[json, gzip]", "[protobuf, json]", "[base64, json, gzip]", "{ byType: { a: [json, zlib] } }"])
    func nothingFollowsTheMeaning(yaml: String) {
        let said = faults(body: yaml)
        #expect(said.count == 1 && said[0].contains("has an encoding after"), "\(said)")
    }

    @Test(arguments: ["[gzip, json]", "[base64, gzip, protobuf]", "[hex]", "[gzip, text]"])
    func theMeaningComesLast(yaml: String) { #expect(faults(body: yaml) == []) }
}
