import Foundation
import TestSupport
import Testing

/// What `tools/check-trace` accepts.
@Suite struct TraceSchemaTests {
    private static func lines(body: String) -> [UInt8] {
        let time = "2026-11-21T08:00:00.000000000Z"
        return Array(
            """
            {"event":"trace","version":2,"source":"a","tool":"frametap 0.1.0"}
            {"event":"frame","connection":1,"from":"client","index":0,"time":"\(time)","started":"\(time)","offset":0,"length":9,\
            "segments":1,"merged":false,"type":"a","heartbeat":false,"fields":{},"body":\(body)}

            """.utf8)
    }

    /// A trace goes on in the same file only where lines before could not be written.
    @Test(
        arguments: [
            (#","unwritten":7"#, nil), ("", ":3: a trace event that is not the first line should have unwritten"),
            (#","unwritten":0"#, ":3: trace.unwritten: 0 is less than the minimum of 1"),
        ] as [(String, String?)])
    func aTraceThatContinues(unwritten: String, fault: String?) throws {
        let again = #"{"event":"trace","version":2,"source":"a","tool":"frametap 0.1.0"\#(unwritten)}"#
        let file = try TemporaryFile(
            Self.lines(body: #"{"length":9,"text":"a"}"#) + Array((again + "\n").utf8), name: "trace.ndjson")
        let result = try Program.checkTraces([file.path])
        #expect(result.status == (fault == nil ? 0 : 1), "\(result.text)\(result.errors)")
        if let fault { #expect(result.text.contains(fault), "\(result.text)") }
        let next = try TemporaryFile(Array((again + "\n").utf8), name: "next.ndjson")
        let begins = try Program.checkTraces([next.path])
        #expect((begins.status == 0) == !unwritten.hasSuffix(":0"), "the next file of a series may begin so")
    }

    /// A body's JSON is as it was sent; all else has each name once.
    @Test(
        arguments: [
            (#"{"length":9,"json":{"x":1,"x":2}}"#, nil), (#"{"length":9,"json":[{"a":{"x":1,"x":2}}]}"#, nil),
            (#"{"length":9,"length":9,"text":"a"}"#, "'length' appears twice in body"),
            (#"{"length":9,"protobuf":{"x":1,"x":2}}"#, "'x' appears twice in body.protobuf"),
        ] as [(String, String?)])
    func namesThatAreThereTwice(body: String, fault: String?) throws {
        let file = try TemporaryFile(Self.lines(body: body), name: "trace.ndjson")
        let result = try Program.checkTraces([file.path])
        #expect(result.status == (fault == nil ? 0 : 1), "\(result.text)\(result.errors)")
        if let fault { #expect(result.text.contains(":2: \(fault)"), "\(result.text)") }
    }
}
