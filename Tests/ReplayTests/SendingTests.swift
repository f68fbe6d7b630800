import Framing
import Replay
import Streams
import Testing
import Trace

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
}
