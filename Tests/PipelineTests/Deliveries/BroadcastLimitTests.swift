import Analysis
import Framing
import Pipeline
import Streams
import Testing
import Trace

/// Broadcasts of which each has another body, so that none ends the round of another.
@Suite struct BroadcastLimitTests {
    /// A server that sends each broadcast to two clients; times in milliseconds.
    private final class Talk {
        let skew: BroadcastSkew
        private let decoder: Decoder
        private var connections: [any ConnectionReceiver] = []

        init(mostRounds: Int) throws {
            let format = try FormatLoader.load(
                """
                format: news
                framing: { rule: delimiter, end: "\\n" }
                body: text
                frame: { type: [{ when: body.text startsWith "news", is: news }, { is: seen }] }
                broadcast: { sent: type == "news", receipt: type == "seen", within: 1 s }
                """, file: "news")
            skew = BroadcastSkew(mostRounds: mostRounds)
            decoder = Decoder(DecodingOptions(.fixed(format)), analyses: [skew], sinks: [])
            let loopback = IPAddress(v4: 0x7f00_0001)
            for number in 1...2 {
                connections.append(
                    decoder.open(
                        Opening(
                            number: number, time: Timestamp(nanoseconds: 0),
                            client: Endpoint(loopback, UInt16(40_000 + number)), server: Endpoint(loopback, 9_000))))
            }
        }

        /// Sends a line to both, or from both.
        func say(_ text: String, _ direction: Direction, at time: Int64) {
            let bytes = Array("\(text)\n".utf8)
            for connection in connections {
                connection.received(
                    bytes.span.bytes, from: direction, at: Timestamp(nanoseconds: time * 1_000_000), packet: 0)
            }
        }

        func outcome() throws -> BroadcastSkew.Outcome { try #require(skew.results().first).outcome }
    }

    @Test func roundsThatAreOverMakeRoom() throws {
        let talk = try Talk(mostRounds: 2)
        for round in 0..<5 as Range<Int64> {
            talk.say("news \(round)", .fromServer, at: round * 2_000)
            talk.say("seen", .fromClient, at: round * 2_000 + 10)
        }
        let outcome = try talk.outcome()
        #expect(outcome.rounds == 5 && outcome.incomplete == 0)
    }

    /// Its receipts do not confirm a round before it.
    @Test func whatHasNoRoomIsNotCounted() throws {
        let talk = try Talk(mostRounds: 1)
        talk.say("news 0", .fromServer, at: 0)
        talk.say("news 1", .fromServer, at: 100)
        talk.say("seen", .fromClient, at: 110)
        let outcome = try talk.outcome()
        #expect(outcome.rounds == 1 && outcome.incomplete == 1 && outcome.seen.count == 0)
    }
}
