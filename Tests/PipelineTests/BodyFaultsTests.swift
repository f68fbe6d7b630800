import Framing
import Pipeline
import Streams
import Testing
import Trace

@Suite struct BodyFaultsTests {
    /// The lines of a trace of bodies that a client sends, without times.
    private func trace(
        _ body: String, _ bodies: [String], resources: BodyResources = BodyResources(), limit: Int = 4_096
    ) throws -> [String] {
        var format = try FormatLoader.load(
            """
            format: mine
            framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size }
            frame: { type: type }
            body: \(body)
            """, file: "mine.yaml")
        try format.use(resources)
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)),
            sinks: [NDJSONWriter(to: output, source: "test", tool: "test", bodyLimit: limit)])
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        let time = Timestamp(seconds: 1, nanoseconds: 0)
        let connection = decoder.open(Opening(number: 1, time: time, client: end, server: end))
        for body in bodies {
            let frame = Array("{\"size\":\(body.utf8.count),\"type\":\"t\"}\r\n\(body)".utf8)
            connection.received(frame.span.bytes, from: .fromClient, at: time, packet: 1)
        }
        connection.closed(Closing(reason: .fin, by: nil, time: time))
        decoder.finish()
        decoder.flush()
        return output.text.split(separator: "\n").map(String.init)
    }

    @Test func aFaultIsFoundOnceAFrameAndTheBodyStaysReadable() throws {
        let lines = try trace("json", [#"{"a": 1}"#, #"{"a": 1,}"#, ""])
        #expect(lines.contains { $0.hasSuffix(#""body":{"length":8,"json":{"a":1}}}"#) })
        #expect(lines.contains { $0.hasSuffix(#""body":{"length":9,"text":"{\"a\": 1,}"}}"#) })
        #expect(lines.contains { $0.hasSuffix(#""body":{"length":0,"hex":""}}"#) })
        let findings = lines.filter { $0.contains(#""event":"finding""#) }
        #expect(findings.count == 1)
        #expect(findings.first?.contains(#""kind":"bad-json","severity":"warning""#) == true)
        #expect(
            findings.first?.hasSuffix(
                #""data":{"index":1,"offset":31,"encoding":"json","detail":"expected a key in quotes at byte 8","packet":1}}"#
            )
                == true, "\(findings)")
        #expect(lines.last?.contains(#""findings":{"bad-json":1}"#) == true)
    }

    @Test func afterTheFirstTenFaultsAreCounted() throws {
        for count in [9, 10, 11, 12, 40] {
            for body in ["json", "protobuf", "[base64, json]"] {
                let lines = try trace(body, Array(repeating: "{", count: count))
                let findings = lines.filter { $0.contains(#""event":"finding""#) }
                #expect(findings.count == min(count, 11), "\(body)")
                #expect(lines.filter { $0.contains(#""event":"frame""#) }.count == count)
                guard count > 10 else { continue }
                #expect(findings.last?.contains(#""data":{"count":\#(count - 10)}"#) == true, "\(findings.last ?? "")")
            }
        }
    }

    @Test func kindsAreReported() throws {
        let wrong = BodyResources(keys: ["mine": Array(0..<16)])
        #expect(try trace("[base64, text]", ["!"]).contains { $0.contains(#""kind":"bad-body""#) })
        #expect(
            try trace("[aes, json]", ["0123456789abcdef"], resources: wrong).contains {
                $0.contains(#""kind":"wrong-key""#)
            })
        #expect(try !trace("[aes, json]", ["0123456789abcdef"]).contains { $0.contains("finding\"") })
        #expect(try !trace("text", ["\u{1}"]).contains { $0.contains("finding\"") })
    }

    @Test func beyondTheLimitTheBeginningOfJSONIsText() throws {
        let lines = try trace("json", [#"{"a": "éé"}"#], limit: 8)
        #expect(
            lines.contains { $0.hasSuffix(#""body":{"length":13,"text":"{\"a\":\"é","truncated":true}}"#) }, "\(lines)")
        let all = try trace("json", [#"{"a": "éé"}"#], limit: 12)
        #expect(all.contains { $0.hasSuffix(#""body":{"length":13,"json":{"a":"éé"}}}"#) })
        let none = try trace("json", ["1"], limit: 0)
        #expect(none.contains { $0.hasSuffix(#""body":{"length":1}}"#) })
    }
}
