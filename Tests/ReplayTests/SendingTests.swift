import Framing
import Replay
import Streams
import Testing
import Trace
import TraceDiff

/// Frames written by hand.
@Suite struct SendingTests {
    private static func answer(_ fields: String, _ body: String) throws -> FrameEvent {
        let never = Timestamp(nanoseconds: 0)
        return FrameEvent(
            connection: 1, from: .fromServer, index: 0, time: never, started: never, offset: 0, length: 1, segments: 1,
            merged: false, type: nil, isHeartbeat: false,
            fields: try JSONValue(parsing: Array(fields.utf8).span.bytes),
            body: try JSONValue(parsing: Array(body.utf8).span.bytes))
    }

    @Test func valuesOfAnswersAreFilledIn() throws {
        let answers = [
            try Self.answer(#"{"token":"old","n":7}"#, #"{"length":2,"text":"hi"}"#),
            try Self.answer(#"{"token":"new"}"#, #"{"length":9,"json":{"a":[{"id":"x"},{"deep":5}]}}"#),
        ]
        for (text, filled) in [
            (#"{"fields":{"t":"${token}"}}"#, #"{"fields":{"t":"new"}}"#),
            (#"{"fields":{"t":"<${token}> ${n}"}}"#, #"{"fields":{"t":"<new> 7"}}"#),
            // Alone, it is the value itself.
            (#"{"fields":{"t":"${n}"}}"#, #"{"fields":{"t":7}}"#),
            (#"{"body":{"json":["${deep}","${body.json.a.0.id}"]}}"#, #"{"body":{"json":[5,"x"]}}"#),
            (#"{"body":{"text":"${text} $ {x} ${"}}"#, #"{"body":{"text":"hi $ {x} ${"}}"#),
        ] {
            #expect(try FrameTemplate(text).filled(from: answers).compactText == filled)
        }
        #expect(throws: ReplayError("no answer has a value session, which ${session} stands for")) {
            try FrameTemplate(#"{"fields":{"t":"${session}"}}"#).filled(from: answers)
        }
        #expect(throws: ReplayError.self) { try FrameTemplate("[]") }
        #expect(throws: ReplayError.self) { try FrameTemplate("{") }
    }

    @Test(arguments: ["length-field, field: size, counts: body", "fields, body: size"])
    func aVariedFieldIsOverwrittenAndNothingElse(rule: String) throws {
        let format = try FormatLoader.load(
            """
            format: sized
            header: [{ size: u16 }, { kind: { type: u8, bits: { 2-3: mode } } }]
            framing: { rule: \(rule) }
            body: text
            """, file: "test.yaml")
        let line = try JSONValue(parsing: Array(#"{"fields":{"kind":3},"body":{"text":"Hello"}}"#.utf8).span.bytes)
        let variations = try #require(FrameVariations("fields.size=0,1,65535,-1"))
        let heads = try variations.values.map { Array(try variations.bytes(of: line, with: $0, format).prefix(3)) }
        #expect(heads == [[0, 0, 3], [0, 1, 3], [255, 255, 3], [255, 255, 3]])
        for value in variations.values {
            #expect(try variations.bytes(of: line, with: value, format).dropFirst(3).elementsEqual(Array("Hello".utf8)))
        }
        #expect(throws: EncodingError.self) {
            try variations.bytes(of: line, with: .number("65536"), format)
        }
        let modes = try #require(FrameVariations("fields.mode=0,2"))
        #expect(try modes.values.map { try modes.bytes(of: line, with: $0, format)[2] } == [3, 11])
        // A body is replaced, and its length follows.
        let bodies = try #require(FrameVariations("body.text=a,bcd,"))
        let frames = try bodies.values.map { try bodies.bytes(of: line, with: $0, format) }
        #expect(frames == [[0, 1, 3, 97], [0, 3, 3, 98, 99, 100], [0, 0, 3]])
        #expect(FrameVariations("size=0") == nil && FrameVariations("fields.size") == nil)
    }

    @Test func onlyTheFramesOfASideAreSent() throws {
        let format = try FormatLoader.load(
            "format: lines\nframing: { rule: delimiter, end: \"\\n\" }\nbody: text\n", file: "test.yaml")
        let lines = [
            #"{"event":"trace","version":2}"#, "", "\r", #"{"from":"client","body":{"text":"a"}}"#,
            #"{"event":"frame","from":"server","body":{"text":"b"}}"#, #"{"body":{"text":"c"}}"#,
            #"{"event":"frame","from":"client","leg":"out","body":{"text":"a"}}"#,
        ]
        for (direction, expected, other) in [
            (Direction.fromClient, ["a\n", "c\n"], "1 frame of the server, 1 frame of the leg out"),
            (.fromServer, ["b\n", "c\n"], "2 frames of the client"),
        ] {
            let frames = try FramesToSend(lines, format, from: direction)
            let bytes = try (0..<frames.count).map { try frames.bytes(of: $0, answers: []) }
            #expect(bytes == expected.map { Array($0.utf8) })
            #expect(frames.note == "not sent: \(other), 1 line without a frame")
        }
        #expect(try FramesToSend([#"{"body":{"text":"a"}}"#], format).note == nil)
        let broken = try FramesToSend([#"{"body":{"text":"a"}}"#, #"{"bdy":{}}"#], format)
        #expect(throws: EncodingError("frame 2: a frame has no bdy; did you mean body?")) { try broken.check() }
    }

    /// A trace does not contain what it hides, however deep.
    @Test func whatATraceHidesIsNotSent() throws {
        let format = try FormatLoader.load(
            "format: objects\nframing: { rule: delimiter, end: \"\\n\" }\nbody: json\n", file: "test.yaml")
        for (line, what) in [
            (#"{"body":{"json":{"a":[1,{"b":"«secret»"}]}}}"#, "the body"),
            (#"{"body":{"json":"\u00absecret\u00bb"}}"#, "the body"),
            (#"{"body":{"protobuf":{"1":["«secret»"]}}}"#, "the body"),
            (#"{"body":{"fields":{"a":"«secret»"}}}"#, "the body"), (#"{"body":{"text":"«secret»"}}"#, "the body"),
            (#"{"fields":{"a":{"b":["«secret»"]}}}"#, "a field"), (#"{"fields":{"a":"«secret»"}}"#, "a field"),
        ] {
            let error = #expect(throws: EncodingError.self, "\(line)") { try FramesToSend([line], format).check() }
            #expect(error?.description == "\(what) is «secret»: the trace hides what it was", "\(line)")
        }
        // A part of a text, or a name, is no secret.
        try FramesToSend([#"{"body":{"json":{"«secret»":"is «secret»"}}}"#], format).check()
    }

    /// A recording of one thing that was said on one connection.
    private func recording(of item: RecordedItem, _ format: String) throws -> Recording {
        var connection = RecordedConnection(
            number: 1, opened: Timestamp(nanoseconds: 0), client: "", server: "")
        connection.format = format
        connection.items = [item]
        var trace = RecordedTrace(source: "test")
        trace.connections = [connection]
        return try Recording(trace, format: format, rules: TraceRules())
    }

    /// Bytes that are no frame may be secret, too.
    @Test func unframedBytesThatATraceHidesAreNotSent() throws {
        let format = try FormatLoader.load(
            "format: lines\nframing: { rule: delimiter, end: \"\\n\" }\nbody: text\n", file: "test.yaml")
        for (hex, isKnown) in [("616263", true), ("", false)] {
            let time = Timestamp(nanoseconds: 0)
            let run = RunEvent(from: .fromClient, time: time, offset: 0, length: 3, reason: "no-frame", hex: hex)
            let recording = try recording(of: .unframed(run), "lines")
            let builder = FrameBuilder(format, recording)
            if isKnown {
                try recording.check(builder, .fromClient)
            } else {
                let error = #expect(throws: ReplayError.self) { try recording.check(builder, .fromClient) }
                #expect(error?.description.contains("which hides them") == true)
            }
        }
    }

    /// Why a frame cannot be built is in the log: what the format calls secret is not.
    @Test(arguments: [false, true]) func whyAFrameCannotBeBuiltShowsNoSecret(isSecret: Bool) throws {
        let format = try FormatLoader.load(
            "format: pins\nheader: [{ pin: u8 }, { length: u8 }]\nframing: { rule: length-field, field: length }\n"
                + "body: text\n" + (isSecret ? "secret: [fields.pin]\n" : ""), file: "test.yaml")
        let time = Timestamp(nanoseconds: 0)
        let frame = FrameEvent(
            connection: 1, from: .fromClient, index: 0, time: time, started: time, offset: 0, length: 3, segments: 1,
            merged: false, type: nil, isHeartbeat: false, fields: .object([.init("pin", .number("4711"))]),
            body: .object([.init("length", .number("1")), .init("text", .text("x"))]))
        let builder = FrameBuilder(format, try recording(of: .frame(frame), "pins"))
        let error = #expect(throws: ReplayError.self) { try builder.bytes(of: .frame(frame), filled: .frame(frame)) }
        let text = error?.description ?? ""
        #expect(
            text.hasPrefix("connection 1, frame 0 of the client: pin ") && text.contains("4711") != isSecret, "\(text)")
    }

    @Test func aVariationThatFitsIsEnough() throws {
        let format = try FormatLoader.load(
            "format: lines\nframing: { rule: delimiter, end: \"\\n\" }\nbody: text\n", file: "test.yaml")
        for (variations, isBuilt) in [
            ("body.text=a,b", true), ("body.hex=zz,61", true), ("body.hex=zz,z", false), ("fields.nope=1", false),
        ] {
            let parsed = try #require(FrameVariations(variations))
            let frames = try FramesToSend([#"{"body":{"text":"x"}}"#], format, varying: parsed)
            if isBuilt {
                try frames.check()
            } else {
                #expect(throws: EncodingError.self) { try frames.check() }
            }
        }
    }

    @Test func commasOfAValueAreItsOwn() throws {
        for (text, expected) in [
            (#"body.json.a="x,y",3,z"#, [#""x,y""#, "3", #""z""#]),
            ("body.json.a=[1,2],{\"b\":3}", ["[1,2]", #"{"b":3}"#]),
            (#"body.json.a="x,y"#, [#""\"x""#, #""y""#]), ("body.json.a=", ["\"\""]),
            ("body.json.a=,", ["\"\"", "\"\""]),
            // A body's text is text.
            ("body.text=12,true", [#""12""#, #""true""#]), (#"body.text={},"a,b""#, [#""{}""#, #""a,b""#]),
            ("body.hex=1234", [#""1234""#]),
        ] {
            #expect(try #require(FrameVariations(text)).values.map(\.compactText) == expected, "\(text)")
        }
    }

    @Test func aNumberInAPathIsAPlaceInAList() throws {
        let format = try FormatLoader.load(
            "format: objects\nframing: { rule: delimiter, end: \"\\n\" }\nbody: json\n", file: "test.yaml")
        let line = try JSONValue(parsing: Array(#"{"body":{"json":{"a":[{"b":1},2]}}}"#.utf8).span.bytes)
        for (path, expected) in [
            ("a.0.b", #"{"a":[{"b":7},2]}"#), ("a.1", #"{"a":[{"b":1},7]}"#), ("c", #"{"a":[{"b":1},2],"c":7}"#),
        ] {
            let variations = try #require(FrameVariations("body.json.\(path)=7"))
            let bytes = try variations.bytes(of: line, with: variations.values[0], format)
            #expect(String(decoding: bytes, as: UTF8.self) == expected + "\n")
        }
    }
}
