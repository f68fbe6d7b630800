import Framing
import Streams
import Testing

@Suite struct JSONBodyTests {
    @Test(arguments: [
        (#" { "a" : [ 1 , { } , [ ] ] , "b" : "x y" } "#, #"{"a":[1,{},[]],"b":"x y"}"#),
        ("12", "12"), (#""é""#, #""é""#), (" null\n", "null"),
        ("[\"\u{7f}\u{9b}[31m\u{a0}\"]", "[\"\\u007f\\u009b[31m\u{a0}\"]"),
    ])
    func isShownCompact(text: String, compact: String) throws {
        #expect(try bodies("json").show(text) == Shown(.json, compact))
    }

    @Test(arguments: [
        (#"{"a":1"#, "expected ',' or '}' at byte 6"), (#"{"a":1,}"#, "expected a key in quotes at byte 7"),
        ("[1,]", "expected a value at byte 3"), ("[1]]", "expected the end at byte 3"), ("[", "expected a value"),
        ("{1:2}", "expected a key"), (#"{"a" 1}"#, "expected ':'"), ("]", "expected a value at byte 0"),
    ])
    func withAMistakeItIsTextAndAFault(text: String, message: String) throws {
        let shown = try bodies("json").show(text)
        #expect(shown.form == .text && shown.text == text)
        #expect(shown.kinds == [.badJSON])
        #expect(shown.faults.allSatisfy { $0.message.contains(message) }, "\(shown)")
    }

    @Test func whatIsNotUTF8IsBytesAndAFault() throws {
        let shown = try bodies("json").show([0x22, 0xff, 0x22])
        #expect(shown.form == .opaque && shown.bytes == [0x22, 0xff, 0x22] && shown.kinds == [.badJSON])
    }

    @Test func nothingIsNoFault() throws {
        #expect(try bodies("json").show("") == Shown(.opaque, ""))
        #expect(try bodies("[aes, gzip, json]").show("") == Shown(.opaque, ""))
        #expect(try bodies("text").show("") == Shown(.text, ""))
        #expect(try bodies("protobuf").show("") == Shown(.protobuf, "{}"))
    }

    @Test(arguments: ["[", "{\"a\":", "[[{\"a\":"])
    func nestingIsLimitedWithoutUsingTheStack(open: String) throws {
        let deep = String(repeating: open, count: 100_000)
        let shown = try bodies("json").show(deep)
        #expect(shown.kinds == [.badJSON])
        #expect(shown.faults.first?.message.contains("no more than 512 levels") == true)
        let allowed = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try bodies("json").show(allowed) == Shown(.json, allowed))
        #expect(try bodies("json").show("[" + allowed + "]").kinds == [.badJSON])
    }

    @Test func valuesAreFoundByPath() throws {
        let text = #"{"a":{"b":[10,{"c":"x"}],"b2":1},"d":1,"d":2,"":{"":true},"e\u0066":[[1,2],[3]]}"#
        let body = try bodies("json").decode(Array(text.utf8).span.bytes, type: nil)
        func value(_ path: String...) -> FieldValue? { body.value(at: ["json"] + path, of: RawSpan()) }
        #expect(value("a", "b", "0") == .integer(10))
        #expect(value("a", "b", "1", "c") == .text("x"))
        #expect(value("a", "b", "1") == .json(#"{"c":"x"}"#))
        #expect(value("a", "b") == .json(#"[10,{"c":"x"}]"#))
        #expect(value("d") == .integer(2))
        #expect(value("", "") == .boolean(true))
        #expect(value("ef", "1", "0") == .integer(3))
        #expect(value("ef", "0", "1") == .integer(2))
        for path in [["a", "c"], ["b"], ["a", "b", "2"], ["a", "b", "00"], ["a", "b", "0", "x"], ["0"], ["c"]] {
            #expect(body.value(at: ["json"] + path, of: RawSpan()) == nil, "\(path)")
        }
        #expect(body.value(at: ["json"], of: RawSpan())?.shortDescription.hasPrefix("{") == true)
        #expect(body.value(at: ["text"], of: RawSpan()) == nil)
    }

    @Test func secretsAreRedacted() throws {
        func redacted(_ text: String, _ paths: [[String]]) throws -> String {
            let body = Array(text.utf8)
            let shown = try bodies("json").decode(body.span.bytes, type: nil).redacting(
                paths, of: body.span.bytes)
            return shown.withBytes(of: body.span.bytes) { String(decoding: $0.copied(), as: UTF8.self) }
        }
        let text = #"{"password":"x","user":{"password":{"a":[1]},"n":1},"list":[{"t":1,"u":2},{"t":[]}]}"#
        #expect(
            try redacted(text, [["password"], ["json", "user", "password"], ["list", "t"]])
                == #"{"password":"«secret»","user":{"password":"«secret»","n":1},"list":[{"t":"«secret»","u":2},"#
                + #"{"t":"«secret»"}]}"#)
        #expect(
            try redacted(#"{"p\u0061ss":1,"pass":2}"#, [["pass"]]) == ##"{"p\u0061ss":"«secret»","pass":"«secret»"}"##)
        #expect(try redacted(#"[[1,2],3]"#, [["0", "1"]]) == #"[[1,"«secret»"],3]"#)
        #expect(try redacted(text, []) == text)
        #expect(try redacted(text, [[]]) == "«secret»")
        // In a body that is not JSON, the position of the secret is unknown.
        #expect(try redacted(#"{"password":"x",}"#, [["password"]]) == "«secret»")
        #expect(DecodedBody.incomplete.redacting([["password"]], of: RawSpan()).form == .text)
        #expect(DecodedBody.incomplete.redacting([], of: RawSpan()).form == .opaque)
        let broken = Array("{\"password\":\"x\"".utf8) + [0xff]
        let shown = try bodies("json").decode(broken.span.bytes, type: nil)
        #expect(shown.redacting([["password"]], of: broken.span.bytes).form == .text)
        // Arrays that a path may or may not step into must not multiply the work.
        let deep = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try redacted(deep, [Array(repeating: "0", count: 20) + ["x"]]) == deep)
    }

    @Test func hostileBytesAreHarmless() throws {
        expectHostileBodiesAreHarmless(try bodies("json"), Array(#"{"a":[1.5e3,"é\n",{"b":null}],"c":"\u00e9"}"#.utf8))
    }
}
