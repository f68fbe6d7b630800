import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Messages from client to client, and broadcasts to all.
@Suite struct DeliveryTests {
    /// A relay of JSON messages with three clients, times in milliseconds.
    private final class Conversation {
        let deliveries = Deliveries()
        let skew = BroadcastSkew()
        private let output = MemoryOutput()
        private let decoder: Decoder
        private var connections: [Int: any ConnectionReceiver] = [:]

        /// - Parameters:
        ///   - relay: more keys of `relay`.
        ///   - more: more lines of the format file.
        init(relay: String = "", more: String = "") throws {
            let format = try FormatLoader.load(
                """
                format: relay
                framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size }
                client: { frame: { type: type, from: from, to: to } }
                server: { frame: { type: type, from: from } }
                body: text
                relay: { sent: type == "chat", received: type == "chat", within: 1 s\(relay) }
                \(more)
                broadcast: { sent: type == "news", receipt: type == "seen", within: 1 s }
                """, file: "relay")
            decoder = Decoder(
                DecodingOptions(.fixed(format)), analyses: [deliveries, skew],
                sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        }

        func open(_ number: Int, as name: String, at time: Int64 = 0) {
            let loopback = IPAddress(v4: 0x7f00_0001)
            connections[number] = decoder.open(
                Opening(
                    number: number, time: at(time), client: Endpoint(loopback, UInt16(40_000 + number)),
                    server: Endpoint(loopback, 9_000)))
            say(number, .fromClient, "hello", name, "", "", time)
        }

        func say(
            _ number: Int, _ direction: Direction, _ type: String, _ from: String, _ to: String, _ body: String,
            _ time: Int64
        ) {
            let text =
                #"{"from":"\#(from)","size":"\#(body.utf8.count)","to":"\#(to)","type":"\#(type)"}"# + "\r\n\(body)"
            let bytes = Array(text.utf8)
            connections[number]?.received(bytes.span.bytes, from: direction, at: at(time), packet: 0)
        }

        /// A chat message that is sent, and received on a connection at a given time.
        func send(_ body: String, at time: Int64) { say(1, .fromClient, "chat", "A", "B", body, time) }
        func deliver(_ body: String, to number: Int = 2, at time: Int64) {
            say(number, .fromServer, "chat", "A", "", body, time)
        }

        func lose(_ number: Int, at time: Int64) { connections[number]?.missing(10, from: .fromServer, at: at(time)) }

        func findings(end: Int64 = 60_000) throws -> [TraceLine] {
            for (_, connection) in connections.sorted(by: { $0.key < $1.key }) {
                connection.closed(Closing(reason: .fin, by: .fromClient, time: at(end)))
            }
            decoder.finish()
            return try traceLines(output.text).filter { $0.event == "finding" }
        }

        func outcome() throws -> Deliveries.Outcome { try #require(deliveries.results().first).outcome }

        private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }
    }

    private func conversation(relay: String = "", more: String = "") throws -> Conversation {
        let talk = try Conversation(relay: relay, more: more)
        talk.open(1, as: "A")
        talk.open(2, as: "B")
        return talk
    }

    @Test func messagesAreFollowedToTheirReceivers() throws {
        let talk = try conversation()
        talk.open(3, as: "B")
        for (number, time) in zip(0..., [0, 100, 200] as [Int64]) {
            talk.send("message \(number)", at: time)
            talk.deliver("message \(number)", at: time + 30)
            talk.deliver("message \(number)", to: 3, at: time + 70)
        }
        #expect(try talk.findings().isEmpty)
        let outcome = try talk.outcome()
        #expect(outcome.sent == 3 && outcome.delivered == 6 && outcome.absent == 0)
        #expect(outcome.times.minimum == .milliseconds(30) && outcome.times.maximum == .milliseconds(70))
        #expect(outcome.times.buckets == [3, 3, 0, 0])
    }

    @Test func whatDoesNotComeIsMissedByWhoWasConnected() throws {
        let talk = try conversation()
        talk.send("one", at: 0)
        talk.send("two", at: 100)
        talk.deliver("two", at: 110)
        let found = try talk.findings()
        #expect(found.map { $0["kind"] } == ["delivery-missing"], "what never comes is not overtaken")
        #expect(found.last?.number("sentIndex", of: "data") == 1)
        #expect(try talk.outcome().missing == 1)
    }

    /// A message's id is in the finding, unless it is a secret.
    @Test(arguments: [false, true]) func secretIDsAreHidden(isSecret: Bool) throws {
        let talk = try conversation(relay: ", id: body.text", more: isSecret ? "secret: [body.text]" : "")
        talk.send("hunter2", at: 0)
        let found = try talk.findings()
        #expect(found.map { $0["kind"] } == ["delivery-missing"])
        #expect(found.contains { $0.text.contains("hunter2") } == !isSecret, "\(found.map(\.text))")
    }

    @Test func whatWasJustSentOrWhoseReceptionNobodySawIsNotMissed() throws {
        let late = try conversation()
        late.send("one", at: 0)
        #expect(try late.findings(end: 900).isEmpty, "it may be on its way")
        let lost = try conversation()
        lost.send("one", at: 0)
        lost.lose(2, at: 100)
        #expect(try lost.findings().isEmpty, "it may be among what the capture lost")
        let absent = try Conversation()
        absent.open(1, as: "A")
        absent.send("one", at: 0)
        #expect(try absent.findings().isEmpty)
        #expect(try absent.outcome().absent == 1)
    }

    @Test func whatComesTwiceIsReportedUnlessItWasSentTwice() throws {
        let talk = try conversation()
        talk.send("one", at: 0)
        talk.deliver("one", at: 10)
        talk.deliver("one", at: 20)
        #expect(try talk.findings().map { $0["kind"] } == ["delivery-twice"])
        let sent = try conversation()
        for time in [0, 10] as [Int64] { sent.send("one", at: time) }
        for time in [20, 30] as [Int64] { sent.deliver("one", at: time) }
        #expect(try sent.findings().isEmpty)
    }

    @Test func theOrderOfTwoSendersIsTheirOwn() throws {
        let talk = try conversation()
        talk.send("one", at: 0)
        talk.send("two", at: 10)
        talk.deliver("two", at: 20)
        talk.deliver("one", at: 30)
        #expect(try talk.findings().map { $0["kind"] } == ["delivery-out-of-order"])
        let two = try conversation()
        two.open(3, as: "C")
        two.send("one", at: 0)
        two.say(3, .fromClient, "chat", "C", "B", "other", 10)
        two.say(2, .fromServer, "chat", "C", "", "other", 20)
        two.deliver("one", at: 30)
        #expect(try two.findings().isEmpty)
    }

    /// So many messages that some are settled while the latest ones, which have arrived, are still to be matched again.
    @Test func whatIsMatchedAgainLaterOvertakesNothingYet() throws {
        let talk = try conversation()
        for number in 0..<400 {
            talk.send("message \(number)", at: Int64(2 * number))
            if number >= 130 { talk.deliver("message \(number)", at: Int64(2 * number + 1)) }
        }
        let found = try talk.findings()
        #expect(Set(found.map { $0["kind"] }) == ["delivery-missing"])
        let outcome = try talk.outcome()
        #expect(outcome.missing == 130 && outcome.delivered == 270 && outcome.outOfOrder == 0)
    }

    @Test func skewIsFromTheFirstToTheLastReceipt() throws {
        let talk = try conversation()
        talk.open(3, as: "C")
        for (round, base) in zip(0..., [0, 5_000] as [Int64]) {
            for number in 1...3 { talk.say(number, .fromServer, "news", "", "", "news", base) }
            for (number, late) in [(1, 10), (2, 50), (3, 130)] as [(Int, Int64)] where round == 0 || number < 3 {
                let stamp = "23:59:59.9\(number)0"
                talk.say(
                    number, .fromClient, "seen", "", "", "got it \(number == 3 ? "00:00:00.100" : stamp)", base + late)
            }
        }
        _ = try talk.findings()
        let outcome = try #require(talk.skew.results().first).outcome
        #expect(outcome.rounds == 2 && outcome.incomplete == 1)
        #expect(outcome.seen.maximum == .milliseconds(120) && outcome.seen.minimum == .milliseconds(40))
        #expect(outcome.seen.buckets == [1, 0, 1, 0])
        #expect(outcome.stamped.maximum == .milliseconds(190), "over midnight")
    }
}
