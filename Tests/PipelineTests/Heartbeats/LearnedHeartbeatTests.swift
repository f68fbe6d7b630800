import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Gaps in regular frames, if the format does not define heartbeats.
@Suite struct LearnedHeartbeatTests {
    private func findings(_ lines: [(text: String, time: Int64)], learns: Bool = true) throws -> [TraceLine] {
        let output = MemoryOutput()
        let line = try FormatLoader.load(
            """
            format: talk
            framing: { rule: delimiter, end: "\\n" }
            body: text
            frame: { type: [{ when: body.text == "tick", is: tick }, { is: line }] }
            """, file: "talk")
        let decoder = Decoder(
            DecodingOptions(.fixed(line)),
            analyses: Decoder.allAnalyses(replacing: learns ? [LearnedHeartbeats()] : []),
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connection = decoder.open(
            Opening(
                number: 1, time: Timestamp(nanoseconds: 0), client: Endpoint(loopback, 1),
                server: Endpoint(loopback, 2)))
        for (text, time) in lines {
            let at = Timestamp(nanoseconds: time * 1_000_000)
            decoder.advance(to: at)
            let bytes = Array("\(text)\n".utf8)
            connection.received(bytes.span.bytes, from: .fromClient, at: at, packet: 0)
        }
        connection.closed(
            Closing(
                reason: .fin, by: .fromClient,
                time: Timestamp(nanoseconds: (lines.last?.time ?? 0) * 1_000_000 + 1)))
        decoder.finish()
        return try traceLines(output.text).filter { $0.event == "finding" }
    }

    @Test func aGapIsReportedWithWhatItWasLearnedFrom() throws {
        let ticks = (0..<8).map { ("tick", Int64($0 * 1_000)) } + [("tick", 12_500), ("tick", 13_500)]
        let found = try findings(ticks)
        #expect(found.map { $0["kind"] } == ["heartbeat-gap", "heartbeat-resumed"])
        #expect(found.first?["severity"] == "info" && found.first?["time"] == "1970-01-01T00:00:10.000000000Z")
        #expect(found.first?.number("learnedFrom", of: "data") == 7)
        #expect(
            found.first?["message"]
                == "heartbeat gap: 3.0 s since tick, which came every 1.0 s: learned from 7 gaps with a spread of 0 %")
        #expect(try findings(ticks, learns: false).isEmpty, "only where it is asked for")
    }

    @Test func whatSomebodyTypesIsNoHeartbeat() throws {
        let times: [Int64] = [0, 300, 2_000, 2_500, 6_000, 6_100, 9_000, 9_050, 40_000]
        #expect(try findings(times.map { ("hello", $0) }).isEmpty)
        let few = (0..<5).map { ("tick", Int64($0 * 1_000)) } + [("tick", 20_000)]
        #expect(try findings(few).isEmpty, "four intervals teach nothing")
    }
}
