import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// The built-in formats' contracts for heartbeats and broadcasts, applied to conversations of their systems and of others.
@Suite struct SystemHeartbeatTests {
    /// Conversations in one format; times in milliseconds.
    private final class Talk {
        let skew = BroadcastSkew()
        private let output = MemoryOutput()
        private let decoder: Decoder
        private var connections: [Int: any ConnectionReceiver] = [:]
        private var time = Timestamp(nanoseconds: 0)

        init(_ format: String, handshake: Bool = true, connections count: Int = 1, learning: Bool = false) throws {
            let format = try #require(try BuiltInFormats.format(named: format))
            decoder = Decoder(
                DecodingOptions(.fixed(format)), analyses: Decoder.allAnalyses() + [skew],
                sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
            for number in 1...count {
                connections[number] = decoder.open(
                    Opening(
                        number: number, time: time,
                        client: Endpoint(IPAddress(v4: 0x0a00_0001), UInt16(40_000 + number)),
                        server: Endpoint(IPAddress(v4: 0x0a00_0002), 9_000), handshake: handshake))
            }
        }

        func say(_ bytes: [UInt8], _ direction: Direction = .fromClient, at milliseconds: Int, on number: Int = 1) {
            advance(to: milliseconds)
            connections[number]?.received(bytes.span.bytes, from: direction, at: time, packet: 0)
        }

        func say(_ text: String, _ direction: Direction = .fromClient, at milliseconds: Int, on number: Int = 1) {
            say(Array(text.utf8), direction, at: milliseconds, on: number)
        }

        func finish(_ direction: Direction, at milliseconds: Int) {
            advance(to: milliseconds)
            connections[1]?.finished(.fin, from: direction, at: time)
        }

        func advance(to milliseconds: Int) {
            time = Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000)
            decoder.advance(to: time)
        }

        func end(_ reason: CloseReason = .endOfInput, by direction: Direction? = nil) throws -> [TraceLine] {
            for (_, connection) in connections.sorted(by: { $0.key < $1.key }) {
                connection.closed(Closing(reason: reason, by: direction, time: time))
            }
            decoder.finish()
            decoder.flush()
            return try traceLines(output.text)
        }

        var findings: [String] { get throws { try end().filter { $0.event == "finding" }.compactMap { $0["kind"] } } }
    }

    /// One message every 3 s, which begins with a marker: nothing says that it is a heartbeat.
    @Test func inMarkerAStreamWithoutLinkHasNoHeartbeatsAndNoRequests() throws {
        let talk = try Talk("marker")
        for round in 0..<8 {
            talk.say("abnews \(round)", at: 3_000 * round + 500)
            talk.say("abreply \(round)", .fromServer, at: 3_000 * round + 1_500)
        }
        talk.advance(to: 30_000)
        let lines = try talk.end()
        #expect(lines.filter { $0.event == "finding" }.isEmpty)
        #expect(lines.last?[number: "heartbeats"] == 0)
        #expect(lines.filter { $0.event == "frame" }.allSatisfy { $0.text.contains("\"heartbeat\":false") })
        #expect(lines.count { $0.event == "frame" } == 16)
    }

    @Test(arguments: [true, false]) func inMarkerOneWithLinkHas(handshake: Bool) throws {
        let talk = try Talk("marker", handshake: handshake)
        // A capture that starts in the middle has missed the introduction.
        if handshake { talk.say("abLink-x:a-1", at: 0) }
        for time in [1_000, 2_000, 7_000] { talk.say("abdevice", at: time) }
        talk.say("abnews", .fromServer, at: 7_500)
        talk.advance(to: 9_000)
        let lines = try talk.end()
        #expect(lines.last?[number: "heartbeats"] == 3)
        let kinds = lines.filter { $0.event == "finding" }.compactMap { $0["kind"] }
        #expect(kinds.contains("heartbeat-gap"))
    }

    private static func message(_ id: UInt16) -> [UInt8] { [0, 5, UInt8(id >> 8), UInt8(id & 255), 0, 8, 1] }

    /// The client checks every 30 s.
    @Test(arguments: [([25, 50, 75, 100, 125], 0), ([30, 60, 90], 0), ([30, 91, 100], 1)])
    func inLen16HeartbeatsAreDueByTheClientsCheck(seconds: [Int], gaps: Int) throws {
        let talk = try Talk("len16-id")
        for second in seconds { talk.say(Self.message(100), .fromServer, at: second * 1_000) }
        #expect(try talk.findings.count { $0 == "heartbeat-gap" } == gaps)
    }

    /// Only the server ends its stream: an eviction, although the client never closes.
    @Test func aFINOfTheServerAloneIsAnEviction() throws {
        let talk = try Talk("im-json")
        let chat = try ChatBytes()
        talk.say(try chat.heartbeat(), at: 0)
        talk.finish(.fromServer, at: 35_000)
        talk.advance(to: 40_000)
        let found = try talk.end().filter { $0["kind"] == "eviction-close" }
        #expect(found.map { $0["time"] } == ["1970-01-01T00:00:35.000000000Z"])
        #expect(found.first?.text(of: "data", "by") == "server")
    }

    @Test(arguments: [true, false]) func theFirstHeartbeatIsNotMissedAfterTheServersFIN(hasEnded: Bool) throws {
        let talk = try Talk("im-json")
        if hasEnded { talk.finish(.fromServer, at: 1_000) }
        talk.advance(to: 10_000)
        #expect(try talk.findings.contains("heartbeat-never") == !hasEnded)
    }

    /// Clients that repeat the server's text: their other text, and their heartbeats, confirm nothing.
    @Test func inTextHeartbeatBroadcastsAreRepeated() throws {
        let talk = try Talk("text-heartbeat", connections: 3)
        for number in 1...3 { talk.say("12310.300000", at: number, on: number) }
        for round in 0..<4 {
            let time = 1_000 * (round + 1)
            for number in 1...3 { talk.say("round \(round)", .fromServer, at: time + number, on: number) }
            talk.say("hello", at: time + 5, on: 1)
            for number in 1...3 where round < 3 || number > 1 {
                talk.say("round \(round)", at: time + 10 * number, on: number)
            }
        }
        // No client repeats that.
        for number in 1...3 { talk.say("to all", .fromServer, at: 9_000 + number, on: number) }
        _ = try talk.end()
        let outcome = try #require(talk.skew.results().first?.outcome)
        #expect(outcome.rounds == 4 && outcome.incomplete == 1)
        #expect(outcome.seen.maximum == .milliseconds(20) && outcome.seen.minimum == .milliseconds(10))
    }
}
