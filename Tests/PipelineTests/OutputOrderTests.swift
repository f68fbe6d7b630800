import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Output is the same in each run where both sides do the same: each test repeats it, as each table has another order.
@Suite struct OutputOrderTests {
    private let loopback = IPAddress(v4: 0x7f00_0001)

    private func open(_ decoder: Decoder, _ number: Int) -> any ConnectionReceiver {
        decoder.open(
            Opening(
                number: number, time: Timestamp(nanoseconds: 0), client: Endpoint(loopback, UInt16(number)),
                server: Endpoint(loopback, 9_000)))
    }

    private func say(_ text: String, _ connection: any ConnectionReceiver, _ direction: Direction, at time: Int64) {
        let bytes = Array(text.utf8)
        connection.received(
            bytes.span.bytes, from: direction, at: Timestamp(nanoseconds: time * 1_000_000), packet: 0)
    }

    @Test func gapsOfBothSidesBeginWithTheClients() throws {
        let format = try FormatLoader.load(
            """
            format: talk
            framing: { rule: delimiter, end: "\\n" }
            body: text
            frame: { type: [{ when: body.text == "tick", is: tick }, { is: line }] }
            """, file: "talk")
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), analyses: [LearnedHeartbeats()],
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        for number in 1...16 {
            let connection = open(decoder, number)
            for second in 0..<8 as Range<Int64> {
                for direction in Direction.allCases { say("tick\n", connection, direction, at: second * 1_000) }
            }
            connection.closed(
                Closing(reason: .fin, by: .fromClient, time: Timestamp(seconds: 20, nanoseconds: 0)))
        }
        decoder.finish()
        let findings = try traceLines(output.text).filter { $0.event == "finding" }
        for kind in ["heartbeat-gap", "heartbeat-stopped"] {
            for number in 1...16 {
                let own = findings.filter { $0.connection == number && $0["kind"] == kind }
                #expect(own.map(\.from) == ["client", "server"], "\(kind) of connection \(number)")
            }
        }
    }

    @Test func roundTripsOfBothSidesBeginWithTheClients() throws {
        let format = try FormatLoader.load(
            """
            format: asking
            framing: { rule: fixed, size: 2 }
            header: [{ kind: { type: char } }, { id: { type: char } }]
            frame: { type: kind }
            pairs:
              - { request: type == "a", from: client, answer: type == "b", by: order }
              - { request: type == "a", from: server, answer: type == "b", by: order }
            """, file: "asking")
        for _ in 0..<16 {
            let collector = ReportCollector()
            let decoder = Decoder(
                DecodingOptions(.fixed(format)), analyses: Decoder.allAnalyses(replacing: collector.analyses()),
                sinks: [collector])
            let connection = open(decoder, 1)
            for (index, direction) in Direction.allCases.enumerated() {
                say("a1", connection, direction, at: Int64(100 * index))
                say("b1", connection, direction.opposite, at: Int64(100 * index + 10))
            }
            connection.closed(
                Closing(reason: .fin, by: .fromClient, time: Timestamp(seconds: 1, nanoseconds: 0)))
            decoder.finish()
            let report = collector.report(source: "tests")
            #expect(report.roundTrips.map(\.from) == [.fromClient, .fromServer])
            #expect(report.connections.first?.roundTrips.map(\.from) == [.fromClient, .fromServer])
        }
    }
}
