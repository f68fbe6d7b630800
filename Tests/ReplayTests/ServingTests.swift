import Framing
import Pipeline
import Replay
import Streams
import Testing
import Trace
import TraceDiff

/// Pauses of a recording, with sockets.
@Suite struct ServingTests {
    /// Lines; both sides' heartbeats are `beat`.
    private static let format = """
        format: beats
        framing: { rule: delimiter, end: "\\n" }
        frame: { type: [{ when: body.text == "beat", is: beat }, { is: line }] }
        heartbeat: { when: type == "beat", from: client, every: 5 s }
        body: text
        """

    /// A recording of lines, each with its time in milliseconds, and of who closed when.
    private func recording(
        _ format: Format, _ lines: [(from: Direction, text: String, time: Int64)], closed: (by: Direction, time: Int64)
    ) throws -> Recording {
        let reading = TraceReading(of: "test")
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), analyses: [], sinks: [reading.sink(tool: "test", bodyLimit: .max)])
        let start = Timestamp(seconds: 1_000, nanoseconds: 0)
        let nobody = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        let connection = decoder.open(Opening(number: 1, time: start, client: nobody, server: nobody))
        for line in lines {
            let bytes = Array((line.text + "\n").utf8)
            connection.received(bytes.span.bytes, from: line.from, at: start + .milliseconds(line.time), packet: 0)
        }
        connection.closed(Closing(reason: .fin, by: closed.by, time: start + .milliseconds(closed.time)))
        decoder.finish()
        return try Recording(reading.trace, format: format.name, rules: TraceRules())
    }

    /// Serves a recording while something is done with its port.
    private func serve(
        _ recording: Recording, _ options: ReplayOptions, _ body: (Int) async throws -> Void
    ) async throws {
        let (bound, announce) = AsyncStream.makeStream(of: Int.self)
        let serving = Task {
            defer { announce.finish() }
            return try await ReplayServer.serve(recording, host: "127.0.0.1", port: 0, options) { announce.yield($1) }
        }
        defer { serving.cancel() }
        var ports = bound.makeAsyncIterator()
        try await body(try #require(await ports.next()))
    }

    /// What arrives, up to as much as is expected; at most for ten seconds.
    private func hear(_ expected: String, _ connection: ServerConnection) async throws -> String {
        var heard: [UInt8] = []
        for _ in 0..<2_000 {
            for case .bytes(let bytes) in connection.take() { heard += bytes }
            if heard.count >= expected.utf8.count { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        return String(decoding: heard, as: UTF8.self)
    }

    /// A message that is due in ten minutes does not hold up the answer to a heartbeat, which comes before it.
    @Test func theAnswerToAHeartbeatOvertakesAMessageThatIsFarOff() async throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        let recording = try recording(
            format,
            [
                (.fromClient, "ask", 0), (.fromServer, "answer", 10), (.fromClient, "beat", 20),
                (.fromServer, "beat", 30),
                (.fromServer, "news", 600_000),
            ], closed: (by: .fromClient, time: 600_010))
        try await serve(recording, ReplayOptions(format) { _ in }) { port in
            let client = try await ServerConnection.open(host: "127.0.0.1", port: port, timeout: .seconds(5))
            defer { client.close() }
            for (line, answer) in [("ask\n", "answer\n"), ("beat\n", "beat\n")] {
                client.write(Array(line.utf8))
                #expect(try await hear(answer, client) == answer)
            }
        }
    }

    /// A client that ends its side after its request gets the answers.
    @Test func aClientThatHasSentEverythingIsAnswered() async throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        let recording = try recording(
            format, [(.fromClient, "ask", 0), (.fromServer, "answer", 100), (.fromServer, "more", 200)],
            closed: (by: .fromServer, time: 300))
        try await serve(recording, ReplayOptions(format) { _ in }) { port in
            let client = try await ServerConnection.open(host: "127.0.0.1", port: port, timeout: .seconds(5))
            defer { client.close() }
            client.write(Array("ask\n".utf8))
            try await client.finish()
            #expect(try await hear("answer\nmore\n", client) == "answer\nmore\n")
        }
    }

    /// A server that closes a second after its last message is waited for, however little patience there is beyond that.
    @Test func theRecordedServersCloseIsWaitedFor() async throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        let recording = try recording(
            format, [(.fromClient, "ask", 0), (.fromServer, "answer", 10)], closed: (by: .fromServer, time: 1_010))
        var options = ReplayOptions(format) { _ in }
        options.patience = 0.5
        try await serve(recording, options) { [options] port in
            let actual = try await ReplayClient.play(recording, host: "127.0.0.1", port: port, options)
            #expect(actual.connections.map(\.closing?.by) == [.fromServer])
        }
    }
}
