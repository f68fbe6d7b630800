import Framing
import Pipeline
import Streams
import Testing
import Trace
import TraceDiff

@testable import Replay

/// Recorded clients that do not write frames as frametap does: with spaces in JSON.
@Suite struct RewrittenFramesTests {
    private static let format = """
        format: chat
        header: [{ length: u32 }]
        framing: { rule: length-field, field: length, counts: rest }
        frame: { type: body.json.type }
        body: json
        """

    private static let asked = [
        #"{"type": "ask",  "id": "1"}"#, #"{ "type":"ask", "id": "2", "text": "gr\u00fc\u00dfe" }"#,
    ]

    private func bytes(_ json: String) -> [UInt8] { [0, 0, 0, UInt8(json.utf8.count)] + Array(json.utf8) }

    /// What was asked, and answers without spaces.
    private func recording(_ format: Format, keptSide: Direction?, rules: TraceRules = TraceRules()) throws -> Recording
    {
        let reading = TraceReading(of: "test")
        let sink = reading.sink(tool: "test", bodyLimit: .max, keptSide: keptSide)
        let decoder = Decoder(DecodingOptions(.fixed(format)), analyses: [], sinks: [sink])
        let nobody = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        var time = Timestamp(seconds: 1_000, nanoseconds: 0)
        let connection = decoder.open(Opening(number: 1, time: time, client: nobody, server: nobody))
        for (place, json) in Self.asked.enumerated() {
            for (from, text) in [(Direction.fromClient, json), (.fromServer, #"{"type":"re","id":"\#(place + 1)"}"#)] {
                time = time + .milliseconds(1)
                connection.received(bytes(text).span.bytes, from: from, at: time, packet: 0)
            }
        }
        connection.closed(Closing(reason: .fin, by: .fromClient, time: time + .milliseconds(1)))
        decoder.finish()
        return try Recording(reading.trace, format: format.name, rules: rules)
    }

    /// What the replay itself writes is not a difference, whether the recorded bytes are known or not.
    @Test(arguments: [nil, Direction.fromClient]) func whatTheReplayWritesIsNoDifference(keptSide: Direction?)
        async throws
    {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        let recording = try recording(format, keptSide: keptSide)
        // A server that does not mind spaces.
        var options = ReplayOptions(format) { _ in }
        options.unknown = .nearest
        let (bound, announce) = AsyncStream.makeStream(of: Int.self)
        let serving = Task { [options] in
            defer { announce.finish() }
            return try await ReplayServer.serve(recording, host: "127.0.0.1", port: 0, options) { announce.yield($1) }
        }
        defer { serving.cancel() }
        var ports = bound.makeAsyncIterator()
        let port = try #require(await ports.next())
        let actual = try await ReplayClient.play(
            recording, host: "127.0.0.1", port: port, ReplayOptions(format, log: { _ in }))
        let difference = ReplayComparison.compare(recording, actual, Comparison())
        #expect(difference.isEmpty, "\(DiffText.of(difference))")
        #expect(actual.frames.count == 4)
    }

    /// A frame is sent as a capture has it, unless a value is filled in.
    @Test func framesOfACaptureAreSentAsTheyWere() throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        let rules = try RulesYAML.rules(
            in:
                "bind:\n  - name: id\n    places: [{ type: ask, path: body.json.id }, { type: re, path: body.json.id }]\n",
            file: "rules.yaml")
        let recording = try recording(format, keptSide: .fromClient, rules: rules)
        let builder = FrameBuilder(format, recording)
        let items = recording.connections[0].items.filter { $0.from == .fromClient }
        #expect(try items.map { try builder.bytes(of: $0, filled: $0) } == Self.asked.map(bytes))

        var state = ReplayClientState(recording.connections[0], rules)
        var values = Echoes.Values()
        var answer = try #require(recording.connections[0].items[1].frame)
        answer.body = .object([.init("json", .object([.init("type", .text("re")), .init("id", .text("77"))]))])
        state.received(.frame(answer), &values)
        let sent = try items.map { try builder.bytes(of: $0, filled: state.filled($0, values)) }
        #expect(sent == [bytes(#"{"type":"ask","id":"77"}"#), bytes(Self.asked[1])])
    }
}
