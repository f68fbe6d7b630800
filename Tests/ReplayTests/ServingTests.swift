import Framing
import Pipeline
import Replay
import Streams
import Synchronization
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

    /// A recording of texts, each with its time in milliseconds, and of who closed when.
    private func recording(
        _ format: Format, _ lines: [(from: Direction, text: String, time: Int64)], closed: (by: Direction, time: Int64),
        keptSide: Direction? = nil, framedBy frame: (String) -> [UInt8] = { Array(($0 + "\n").utf8) }
    ) throws -> Recording {
        let reading = TraceReading(of: "test")
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), analyses: [],
            sinks: [reading.sink(tool: "test", bodyLimit: .max, keptSide: keptSide)])
        let start = Timestamp(seconds: 1_000, nanoseconds: 0)
        let nobody = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        let connection = decoder.open(Opening(number: 1, time: start, client: nobody, server: nobody))
        for line in lines {
            let bytes = frame(line.text)
            connection.received(bytes.span.bytes, from: line.from, at: start + .milliseconds(line.time), packet: 0)
        }
        connection.closed(Closing(reason: .fin, by: closed.by, time: start + .milliseconds(closed.time)))
        decoder.finish()
        return try Recording(reading.trace, format: format.name, rules: TraceRules())
    }

    /// Serves a recording while something is done with its port.
    ///
    /// - Returns: how many requests were not in the recording.
    @discardableResult
    private func serve(
        _ recording: Recording, _ options: ReplayOptions, _ body: (Int) async throws -> Void
    ) async throws -> Int {
        let (bound, announce) = AsyncStream.makeStream(of: Int.self)
        let serving = Task {
            defer { announce.finish() }
            return try await ReplayServer.serve(recording, host: "127.0.0.1", port: 0, options) { announce.yield($1) }
        }
        defer { serving.cancel() }
        var ports = bound.makeAsyncIterator()
        try await body(try #require(await ports.next()))
        serving.cancel()
        return try await serving.value
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

    /// A server that closes three seconds after its last message is waited for, however little patience there is beyond that.
    @Test func theRecordedServersCloseIsWaitedFor() async throws {
        let format = try FormatLoader.load(Self.format, file: "test.yaml")
        let recording = try recording(
            format, [(.fromClient, "ask", 0), (.fromServer, "answer", 10)], closed: (by: .fromServer, time: 3_010))
        var options = ReplayOptions(format) { _ in }
        options.patience = 2.5
        try await serve(recording, options) { [options] port in
            let actual = try await ReplayClient.play(recording, host: "127.0.0.1", port: port, options)
            #expect(actual.connections.map(\.closing?.by) == [.fromServer])
        }
    }

    // MARK: Frames that depend on the other side

    private static func example(_ name: String) throws -> Format {
        try #require(try ExampleFormats.recognised().first { $0.name == "example:\(name)" })
    }

    /// What a client sends after DATA is a letter only since the server has asked for one.
    @Test func aServerKnowsWhatItHasAskedFor() async throws {
        let format = try Self.example("smtp")
        let letter = "Hello\r\nQUIT\r\n.\r\n"
        let recording = try recording(
            format,
            [
                (.fromServer, "220 here\r\n", 0), (.fromClient, "DATA\r\n", 10), (.fromServer, "354 go on\r\n", 20),
                (.fromClient, letter, 30), (.fromServer, "250 kept\r\n", 40),
            ], closed: (by: .fromClient, time: 50), keptSide: .fromServer, framedBy: { Array($0.utf8) })
        let unknown = try await serve(recording, ReplayOptions(format) { _ in }) { port in
            let client = try await ServerConnection.open(host: "127.0.0.1", port: port, timeout: .seconds(5))
            defer { client.close() }
            #expect(try await hear("220 here\r\n", client) == "220 here\r\n")
            for (said, answer) in [("DATA\r\n", "354 go on\r\n"), (letter, "250 kept\r\n")] {
                client.write(Array(said.utf8))
                #expect(try await hear(answer, client) == answer)
            }
        }
        #expect(unknown == 0)
    }

    /// An answer to HEAD has no body, whatever its length says.
    @Test func anAnswerIsReadByItsRequest() throws {
        let time = Timestamp(seconds: 1_000, nanoseconds: 0)
        let incoming = IncomingFrames(try Self.example("http"), from: .fromServer, at: time)
        let asked = Array("HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n".utf8)
        #expect(incoming.note(sent: asked.span.bytes, at: time).isEmpty)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        let heard = Array((head + head + "Hello").utf8)
        let items = incoming.take(heard.span.bytes, at: time)
        #expect(items.map { $0.frame?.body["text"]?.string ?? "" } == ["", "Hello"], "\(items)")
        #expect(items.allSatisfy { $0.from == .fromServer && $0.frame != nil }, "\(items)")
    }

    // MARK: Bytes that are no frame

    /// Frames with a constant and a length.
    private static let sized = """
        format: sized
        header:
          - magic: { type: u16, equals: 0x4B56 }
          - size: u8
        framing: { rule: length-field, field: size, counts: body }
        body: text
        """

    /// A frame of this format.
    private static func frame(_ text: String) -> [UInt8] { [0x4b, 0x56, UInt8(text.utf8.count)] + Array(text.utf8) }

    /// What becomes of a client's connection.
    enum End { case clientFinishes, clientCloses, serverStops }

    /// Serves a recording to a client that asks, and sends other bytes together with its question.
    ///
    /// - Returns: what was reported, and the number of unknown requests.
    private func report(
        of bytes: [UInt8], _ end: End, unknown: ReplayOptions.Unknown = .close
    ) async throws -> (lines: [String], count: Int) {
        let format = try FormatLoader.load(Self.sized, file: "test.yaml")
        let recording = try recording(
            format, [(.fromClient, "ask", 0), (.fromServer, "answer", 10)], closed: (by: .fromClient, time: 20),
            framedBy: Self.frame)
        let reported = Mutex<[String]>([])
        var options = ReplayOptions(format) { line in reported.withLock { $0.append(line) } }
        options.unknown = unknown
        let count = try await serve(recording, options) { port in
            let client = try await ServerConnection.open(host: "127.0.0.1", port: port, timeout: .seconds(5))
            client.write(Self.frame("ask") + bytes)
            var (heard, hasEnded): ([UInt8], Bool) = ([], false)
            func listen(_ isOver: () -> Bool) async throws {
                for _ in 0..<2_000 where !isOver() {
                    for arrival in client.take() {
                        switch arrival {
                        case .bytes(let bytes): heard += bytes
                        case .ended: hasEnded = true
                        }
                    }
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            // Then the server has read what came with the question.
            try await listen { heard.count >= Self.frame("answer").count }
            #expect(heard == Self.frame("answer"))
            switch end {
            case .clientFinishes: try await client.finish()
            case .clientCloses: return client.close()
            case .serverStops: return
            }
            try await listen { hasEnded }
            #expect(hasEnded)
            client.close()
        }
        return (reported.withLock { $0 }, count)
    }

    /// What might still become a frame is reported when the client ends its side, or the server ends.
    @Test(arguments: [End.clientFinishes, .clientCloses, .serverStops])
    func unfinishedFramesAreReported(_ end: End) async throws {
        let whole = Self.frame("ask")
        for count in 1..<whole.count {
            let (lines, unknown) = try await report(of: Array(whole.prefix(count)), end)
            #expect(unknown == 1 && lines.count == 1, "\(count) bytes: \(lines)")
            #expect(lines.allSatisfy { $0.contains("bytes that are no frame") }, "\(lines)")
        }
    }

    @Test func bytesThatAreNoFrameAreReportedOnceIfTheyAreIgnored() async throws {
        let (lines, unknown) = try await report(of: Array("GET / HTTP/1.0".utf8), .clientFinishes, unknown: .ignore)
        #expect(unknown == 1 && lines.count == 1, "\(lines)")
        #expect(lines.allSatisfy { !$0.contains("closed") }, "\(lines)")
    }
}
