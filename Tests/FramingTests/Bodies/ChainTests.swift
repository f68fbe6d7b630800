import Framing
import Streams
import Testing

@Suite struct ChainTests {
    @Test func plainBodiesAreNotCopied() throws {
        let body = Array("Hello".utf8)
        for yaml in ["text", "hex", "raw", "[raw, text]", "{ byType: { img: hex }, else: text }"] {
            let format = try bodies(yaml)
            #expect(format.isPlain)
            #expect(format.decode(body.span.bytes, type: nil).bytes == nil)
        }
        #expect(try bodies("text").show(body) == Shown(.text, "Hello"))
        #expect(try bodies("text").show([0xff]) == Shown(.opaque, [0xff]))
        #expect(try bodies("hex").show(body) == Shown(.opaque, body))
        for yaml in ["json", "[base64, text]", "{ byType: { a: json }, else: text }", "{ text: { charset: latin-1 } }"]
        {
            #expect(try !bodies(yaml).isPlain)
        }
    }

    @Test func whatOneYieldsTheNextReads() throws {
        let body = "eyJhIjogWzEsIDJdfQ=="
        #expect(try bodies("[base64, json]").show(body) == Shown(.json, #"{"a":[1,2]}"#))
        #expect(try bodies("{ encodings: [base64, text] }").show(body) == Shown(.text, #"{"a": [1, 2]}"#))
        #expect(try bodies("[base16, base64, hex]").show("5a6d 3976") == Shown(.opaque, "foo"))
        // JSON with a mistake is readable, and shown as far as it was decoded.
        let bad = try bodies("[base64, json]").show("ezF9")
        #expect(bad.form == .text && bad.text == "{1}" && bad.kinds == [.badJSON])
    }

    @Test func typesHaveTheirOwnChains() throws {
        let format = try bodies("{ byType: { img: hex, doc: [base64, json] }, else: { encodings: [text] } }")
        #expect(format.show("W10=", type: "doc") == Shown(.json, "[]"))
        #expect(format.show("W10=", type: "img") == Shown(.opaque, "W10="))
        #expect(format.show("W10=", type: nil) == Shown(.text, "W10="))
        #expect(format.show("W10=", type: "txt") == Shown(.text, "W10="))
        #expect(try bodies("{ byType: { txt: text } }").show("x", type: "y") == Shown(.opaque, "x"))
    }

    @Test(
        arguments: [
            ("utf-8", "你好é", Array("你好é".utf8)),
            ("latin-1", "é½ÿ\u{80}a", [0xe9, 0xbd, 0xff, 0x80, 0x61]),
            (
                "gb18030", "你好，世界€😀a",
                [
                    0xc4, 0xe3, 0xba, 0xc3, 0xa3, 0xac, 0xca, 0xc0, 0xbd, 0xe7, 0xa2, 0xe3, 0x94, 0x39, 0xfc, 0x36,
                    0x61,
                ]
            ),
            ("gb18030", "plain", Array("plain".utf8)),
        ] as [(String, String, [UInt8])])
    func textHasACharset(charset: String, text: String, wire: [UInt8]) throws {
        let format = try bodies("{ text: { charset: \(charset) } }")
        #expect(format.show(wire) == Shown(.text, text))
        #expect(try format.encode(.text(text), type: nil) == wire)
    }

    @Test func textOfAnotherCharsetIsBytes() throws {
        let format = try bodies("{ text: { charset: gb18030 } }")
        #expect(format.show([0xff, 0xff]) == Shown(.opaque, [0xff, 0xff]))
        #expect(format.show([0x61, 0xc4]) == Shown(.opaque, [0x61, 0xc4]))
        #expect(throws: EncodingError.self) {
            try bodies("{ text: { charset: latin-1 } }").encode(.text("你"), type: nil)
        }
        expectHostileBodiesAreHarmless(format, [0xc4, 0xe3, 0xba, 0xc3, 0x94, 0x39, 0xfc, 0x36])
    }

    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"), ("Zg", "f"), ("Zm8", "fo"),
        ("Zm9v\r\nYmFy\n", "foobar"), ("_-8=", "\u{ff}\u{ef}"), ("/+8", "\u{ff}\u{ef}"),
    ])
    func base64IsReadInEveryUsualForm(text: String, plain: String) throws {
        let expected = plain.unicodeScalars.map { UInt8($0.value) }
        #expect(try bytes(base64: text) == expected)
    }

    @Test(arguments: ["Z", "Zm9vY", "Zg=", "Zg===", "=", "Z===", "Zm9v=", "Zg==Zg==", "Zm9v!", "Zm9vé"])
    func whatIsNoBase64IsAFaultAndStaysAsItIs(text: String) throws {
        let shown = try bodies("[base64, text]").show(text)
        #expect(shown.form == .opaque && shown.text == text && shown.kinds == [.badBody])
    }

    @Test(arguments: ["0", "0g", "zz"])
    func whatIsNoHexIsAFault(text: String) throws {
        #expect(try bodies("base16").show(text).kinds == [.badBody])
    }

    @Test(arguments: [
        "text", "hex", "base64", "base16", "{ base64: { alphabet: url } }", "zlib", "gzip", "deflate",
        "[base64, gzip, base16, zlib, raw]", "[gzip, text]", "[base64, json]", "protobuf",
        "{ text: { charset: gb18030 } }", "[zlib, text: { charset: latin-1 }]",
    ])
    func encodingIsTheInverseOfDecoding(yaml: String) throws {
        let format = try bodies(yaml)
        var generator = SeededGenerator(seed: 7)
        for round in 0..<60 {
            let raw = (0..<Int.random(in: 0...round, using: &generator)).map { _ in
                UInt8.random(in: 0...(round.isMultiple(of: 2) ? 255 : 127), using: &generator)
            }
            var content = BodyContent.bytes(raw)
            if yaml.contains("text"), round % 2 == 1 { content = .text(String(decoding: raw, as: UTF8.self)) }
            if yaml.contains("json") { content = .json(Array("[\(raw.map(String.init).joined(separator: ","))]".utf8)) }
            if yaml.contains("protobuf"), round > 0 {
                content = .protobuf(Array(#"{"1":\#(round),"2":["a","b"]}"#.utf8))
            }
            let wire = try format.encode(content, type: nil)
            let shown = format.show(wire)
            #expect(shown.faults.isEmpty)
            // Bytes that happen to be text in the chain's charset are shown as that, and no bytes are the empty message.
            let isBytes = if case .bytes = content { true } else { false }
            #expect(shown.content == content || isBytes, "\(yaml): \(shown)")
            if isBytes, !yaml.contains("charset"), !yaml.contains("protobuf") { #expect(shown.bytes == raw) }
            #expect(try format.encode(shown.content, type: nil) == wire)
        }
    }

    @Test func jsonWithMistakesCanBeSentOnPurpose() throws {
        let format = try bodies("[base64, json]")
        let wire = try format.encode(.text("{1}"), type: nil)
        #expect(format.show(wire).text == "{1}")
        #expect(throws: EncodingError.self) { try format.encode(.json(Array("{1}".utf8)), type: nil) }
        #expect(try format.encode(.bytes([1, 2]), type: nil) == [1, 2])
    }
}
