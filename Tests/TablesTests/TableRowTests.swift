import Analysis
import Pipeline
import Streams
import Testing
import Trace

@testable import Framing
@testable import Tables

/// What rows say that captures rarely show.
@Suite struct TableRowTests {
    private typealias Row = [String: ParquetReader.Value]

    private func newSink(_ memory: TableSinkTests.Memory) -> TableSink {
        TableSink(
            TableSelection(), name: FileName("t", isSplit: false), application: "test", bodyLimit: 4_096, store: memory,
            create: memory.create)
    }

    private func rows(_ table: Table, _ memory: TableSinkTests.Memory) throws -> [Row] {
        try memory.rows(table).values.flatMap { $0 }
    }

    private func opening(_ leg: Leg? = nil) -> Opening {
        Opening(
            number: 1, leg: leg, time: Timestamp(nanoseconds: 1_000), client: Endpoint(IPAddress(v4: 1), 1),
            server: Endpoint(IPAddress(v4: 2), 2))
    }

    private func close(_ connection: TracedConnection, at time: Int64, frames: Int = 0, _ sink: TableSink) {
        var counts = PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts())
        counts.fromClient.frames = frames
        sink.closed(
            Closing(reason: .fin, by: .fromClient, time: Timestamp(nanoseconds: time)), counts: counts, on: connection)
    }

    /// Bytes that belong to no frame may be a secret, and so may the text be that the reason quotes.
    @Test(arguments: [false, true]) func unframedBytesMayBeSecret(isSecret: Bool) throws {
        let format = try FormatLoader.load(
            """
            format: spoken
            framing: { rule: delimiter, end: "\\n" }
            body: text
            \(isSecret ? "secret: [body]" : "")
            """, file: "spoken.yaml")
        let memory = TableSinkTests.Memory()
        let sink = newSink(memory)
        let connection = TracedConnection(opening())
        sink.opened(connection)
        connection.recognise(format, FormatChoice(by: .content, evidence: ""))
        sink.recognised(connection)
        let run = UnframedRun(
            offset: 5, bytes: Array("hunter2".utf8), time: Timestamp(nanoseconds: 2_000), reason: .noSync,
            detail: #"expected a line, got "hunter2""#)
        sink.unframed(run, from: .fromClient, on: connection)
        close(connection, at: 9_000, sink)
        sink.summary(Summary())
        let row = try #require(try rows(.findings, memory).first)
        guard case .text(let text)? = row["data"] else {
            Issue.record("no data")
            return
        }
        let data = try JSONValue(parsing: Array(text.utf8).span.bytes)
        #expect(data["length"]?.integer == 7)
        #expect(data["hex"]?.string == (isSecret ? "" : "68756e74657232"))
        #expect(data["detail"]?.string == "expected a line, got \"\(isSecret ? "…" : "hunter2")\"")
        #expect(text.contains("hunter2") != isSecret)
    }

    /// Each leg of a connection has a row with its own end, whether or not the other one ever ends.
    @Test(arguments: [false, true]) func legsHaveRowsOfTheirOwn(bothEnd: Bool) throws {
        let memory = TableSinkTests.Memory()
        let sink = newSink(memory)
        let (received, passedOn) = (TracedConnection(opening(.in)), TracedConnection(opening(.out)))
        sink.opened(received)
        sink.opened(passedOn)
        close(received, at: 5_000, frames: 2, sink)
        sink.missing(
            Gap(direction: .fromServer, offset: 0, byteCount: 1, time: Timestamp(nanoseconds: 6_000)), on: passedOn)
        if bothEnd { close(passedOn, at: 9_000, frames: 3, sink) }
        #expect(sink.outcome.connections == (bothEnd ? 1 : 0))
        sink.summary(Summary())
        #expect(sink.outcome.connections == 1 && sink.outcome.late == 0)
        let found = try rows(.connections, memory)
        var expected: [[ParquetReader.Value]] = [[.text("in"), .integer(5_000), .integer(2)]]
        if bothEnd { expected.append([.text("out"), .integer(9_000), .integer(3)]) }
        #expect(found.map { row in ["leg", "closed_ns", "client_frames"].compactMap { row[$0] } } == expected)
        let findings = try rows(.findings, memory)
        #expect(findings.map { $0["leg"] } == [.text("out")])
        #expect(findings.first?["connection"] == found.first?["connection"])
    }

    @Test func roundTripsAreOfARequestAndItsAnswer() throws {
        let format = try FormatLoader.load(
            """
            format: asking
            framing: { rule: fixed, size: 2 }
            header: [{ kind: { type: char } }, { id: { type: char } }]
            frame: { type: kind }
            pairs: [{ request: from == client, from: client, answer: from == server, by: order }]
            """, file: "asking.yaml")
        let memory = TableSinkTests.Memory()
        let sink = newSink(memory)
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), analyses: [RoundTripMonitor { sink.answered($0) }], sinks: [sink])
        let connection = decoder.open(opening())
        func send(_ text: String, _ direction: Direction, at time: Int64) {
            let bytes = Array(text.utf8)
            connection.received(bytes.span.bytes, from: direction, at: Timestamp(nanoseconds: time), packet: 0)
        }
        send("q1p2", .fromClient, at: 2_000)
        send("a1", .fromServer, at: 2_500)
        send("b2", .fromServer, at: 3_500)
        connection.closed(Closing(reason: .fin, by: .fromClient, time: Timestamp(nanoseconds: 9_000)))
        decoder.finish()
        let names = ["request", "answer", "asked_by", "request_number", "answer_number", "time_ns", "took_ns"]
        let found = try rows(.roundTrips, memory).map { row in names.compactMap { row[$0] } }
        let expected: [[ParquetReader.Value]] = [
            [.text("q"), .text("a"), .text("client"), .integer(0), .integer(0), .integer(2_000), .integer(500)],
            [.text("p"), .text("b"), .text("client"), .integer(1), .integer(1), .integer(2_000), .integer(1_500)],
        ]
        #expect(found == expected)
    }

    /// Of connections that are over, the latest are remembered: for some seconds, and not too many.
    @Test func recentConnectionsAreForgotten() {
        var recent = RecentConnections()
        let time = Timestamp(nanoseconds: 0)
        for number in 0...65_536 { recent.add(number, [1], isFinal: true, at: time) }
        #expect(recent[0] == nil && recent[1] != nil && recent[65_536] != nil)
        recent.add(70_000, [1], isFinal: true, at: time + .seconds(11))
        #expect(recent[65_536] == nil && recent[70_000] != nil)
    }

    @Test(arguments: [("10.0.0.1:80", "10.0.0.1"), ("[2001:db8::1]:40000", "[2001:db8::1]")])
    func addressesHaveNoPort(end: String, address: String) {
        #expect(ConnectionTexts.address(of: end) == address)
    }
}
