import Framing
import Streams
import Testing

@Suite struct AESBodyTests {
    private static let plain = #"{"a": [1, 2.5e3, "é心\n"], "b": null}"#
    private static let json = Shown(.json, #"{"a":[1,2.5e3,"é心\n"],"b":null}"#)
    private static let iv: [UInt8] = Array(100..<116)

    private func resources(_ length: Int) -> BodyResources {
        BodyResources(keys: ["mine": Array(0..<UInt8(length)), "mine.iv": Self.iv])
    }

    /// Made by Python's cryptography: key 00 01 02 …, IV 64 65 66 …, PKCS#7.
    private static let golden: [(Int, String, String)] = [
        (16, "ecb", "95bba0666a427b30ac50ebd18879ecbeaf63d23988f86961eb30dbc0ec3b59e8fa03a1f12426e244b20c949d938a945d"),
        (16, "cbc", "f73d6b747930e4710c987f4e9c34022fd7849224d35da76815a73ed98bc321ca1706b78530e91eef947fb8d4dfd9b3cd"),
        (24, "ecb", "49c0119763aa60aba07a58aac74aee8f443ad82ec727036435c96f0766ed659f727170d2d3092b62045a8de3dbdcdcbf"),
        (24, "cbc", "cb0bc8d5fd8b0b51f924d2a7cf81e5c275ad4753f618459aa923681fddf73f455a0e85859302f6287220790ed64e8b9c"),
        (32, "ecb", "48d93b18648c7aa0841faa20c3503ed74e0851f170b0cda900027ae75e38919ebb4174d6ecf72403e25f058b93c57103"),
        (32, "cbc", "30b9b22bc050c6b65359b4eeb6344c282bc72aab4e606096a35724ed9a2dfe04d28703ba48c63ac55aa73096c279a54a"),
    ]

    @Test(arguments: golden)
    func whatPythonEncryptedIsRead(length: Int, mode: String, data: String) throws {
        let body = try bytes(hex: data)
        let format = try bodies("[{ aes: { mode: \(mode) } }, json]", resources(length))
        #expect(format.show(body) == Self.json)
        #expect(try format.encode(.text(Self.plain), type: nil) == body)
        let text = try bodies("[{ aes: { mode: \(mode) } }, text]", resources(length))
        #expect(text.show(body) == Shown(.text, Self.plain))
        let base64 = try bodies("[{ aes: { mode: \(mode), input: base64 } }, json]", resources(length))
        #expect(try base64.show(base64.encode(.text(Self.plain), type: nil)) == Self.json)
        let hex = try bodies("[{ aes: { mode: \(mode), input: hex } }, json]", resources(length))
        #expect(hex.show(data.uppercased()) == Self.json)
        #expect(try hex.encode(.text(Self.plain), type: nil) == Array(data.utf8))
        expectHostileBodiesAreHarmless(format, body)
    }

    @Test func cbcStartsWithWhatTheFormatSays() throws {
        let body = try bytes(hex: Self.golden[1].2)
        let prefix = try bodies("[{ aes: { mode: cbc, iv: prefix } }, json]", resources(16))
        #expect(prefix.show(Self.iv + body) == Self.json)
        #expect(try prefix.show(prefix.encode(.text(Self.plain), type: nil)) == Self.json)
        #expect(prefix.show(Array(body.prefix(15))).kinds == [.badBody])
        let fixed = try bodies("[{ aes: { mode: cbc, iv: \(hex(Self.iv)) } }, json]", resources(16))
        #expect(fixed.show(body) == Self.json)
        #expect(try bodies("[{ aes: { mode: cbc, iv: zero } }, json]", resources(16)).show(body).kinds == [.wrongKey])
    }

    @Test func whatWasSentInTheClearIsRead() throws {
        for yaml in ["[aes, json]", "[{ aes: { input: base64 } }, json]", "[{ aes: { mode: cbc } }, json]"] {
            let locked = try bodies(yaml)
            #expect(locked.show(Self.plain) == Self.json)
            #expect(try locked.encode(Self.json.content, type: nil) == Self.json.bytes)
            // With a key it is unusual, and reported.
            let open = try bodies(yaml, BodyResources(keys: ["mine": Array(0..<16), "mine.iv": Self.iv]))
            let shown = open.show(Self.plain)
            #expect(shown.form == .json && shown.bytes == Self.json.bytes && shown.kinds == [.badBody], "\(yaml)")
            // A single number or text could be anything.
            for text in ["1234567890123456", "\"abc\""] { #expect(locked.show(text) == Shown(.opaque, text)) }
        }
    }

    @Test func withoutItsKeyABodyStaysAsItIsAndNothingIsWrong() throws {
        let body = try bytes(hex: Self.golden[1].2)
        for yaml in ["[aes, json]", "[{ aes: { mode: cbc } }, json]", "[{ aes: { keyName: other } }, json]"] {
            let format = try bodies(yaml)
            #expect(format.show(body) == Shown(.opaque, body))
            #expect(format.show("not even encrypted") == Shown(.opaque, "not even encrypted"))
            // A body that a trace shows in hex can be sent again; a plain one cannot be encrypted.
            #expect(try format.encode(.bytes(body), type: nil) == body)
            #expect(throws: EncodingError.self) { try format.encode(.text("x"), type: nil) }
        }
        let onlyKey = BodyResources(keys: ["mine": Array(0..<16)])
        #expect(try bodies("[{ aes: { mode: cbc } }, json]", onlyKey).show(body) == Shown(.opaque, body))
    }

    /// Every 256th key or so gives valid padding; the result is still neither JSON nor text.
    @Test(arguments: [
        "[aes, json]", "[aes, text]", "[{ aes: { padding: none } }, json]", "[aes, gzip, text]", "[aes, text, raw]",
    ])
    func aWrongKeyIsAFaultAndNeverGarbage(yaml: String) throws {
        let body = try bytes(hex: Self.golden[0].2)
        var format = try format(body: yaml)
        for number in 1...1_500 {
            var key = [UInt8](repeating: 0x5a, count: 16)
            (key[0], key[1]) = (UInt8(number & 255), UInt8(number >> 8))
            try format.use(BodyResources(keys: ["mine": key]))
            let shown = format.directions.fromClient.body.show(body)
            #expect(shown.form == .opaque && shown.bytes == body && shown.kinds == [.wrongKey], "\(number)")
        }
    }

    @Test func withTheRightKeyAMistakeIsTheSenders() throws {
        let format = try bodies("[aes, json]", resources(16))
        let shown = try format.show(format.encode(.text(#"{"userId": 12,}"#), type: nil))
        #expect(shown.kinds == [.badJSON] && shown.text == #"{"userId": 12,}"#)
    }

    @Test(arguments: ["none", "zeros", "pkcs7"])
    func paddingIsFilledInAndTakenOff(padding: String) throws {
        let format = try bodies("{ aes: { padding: \(padding) } }", resources(32))
        for count in 1...48 where padding != "none" || count.isMultiple(of: 16) {
            let content = [UInt8](repeating: 7, count: count)
            let wire = try format.encode(.bytes(content), type: nil)
            #expect(wire.count.isMultiple(of: 16))
            #expect(format.show(wire) == Shown(.opaque, content))
        }
        #expect(format.show([1, 2, 3]).kinds == [.badBody])
        if padding == "none" { #expect(throws: EncodingError.self) { try format.encode(.bytes([1]), type: nil) } }
    }

    @Test func keysOfAnotherLengthAreRefused() {
        for length in [0, 1, 15, 17, 33] {
            #expect(throws: BodyResourceError.self) { try bodies("aes", resources(length)) }
        }
        #expect(throws: BodyResourceError.self) {
            try bodies("{ aes: { mode: cbc } }", BodyResources(keys: ["mine.iv": [1]]))
        }
    }
}
