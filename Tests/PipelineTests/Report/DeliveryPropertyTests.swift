import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Random conversations in which messages are lost, repeated and overtaken: exactly the planted faults are found.
@Suite struct DeliveryPropertyTests {
    /// A message in transit, times in milliseconds.
    private struct Message {
        var sender: Int
        var target: Int
        var body: String
        var sent: Int64
        var receptions: [Int64]
        var id: Int
    }

    private enum Identity: CaseIterable { case body, id, member }

    private static func format(_ identity: Identity) -> String {
        switch identity {
        case .body, .id:
            """
            format: relay
            header: [{ kind: { type: u8, names: { 1: hello, 2: chat } } }, { src: u8 }, { dst: u8 }, { id: u32 }, { length: u16 }]
            framing: { rule: length-field, field: length }
            frame: { type: kind, from: src, to: dst }
            body: text
            relay: { sent: type == "chat", received: type == "chat", within: 1 s\(identity == .id ? ", id: fields.id" : "") }
            """
        case .member:
            """
            format: relay
            framing: { rule: json-sequence }
            client: { frame: { type: body.kind, from: body.me, to: body.peer.name } }
            server: { frame: { type: body.kind, from: body.by } }
            body: json
            relay: { sent: type == "chat", received: type == "chat", within: 1 s }
            """
        }
    }

    private struct Outcome {
        var result: Deliveries.Outcome
        var missing: [Int] = []
        var twice: [Int] = []
        var overtaken: [Int] = []
    }

    private func play(_ messages: [Message], people: Int, _ identity: Identity) throws -> Outcome {
        let deliveries = Deliveries()
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(try FormatLoader.load(Self.format(identity), file: "relay"))),
            analyses: [deliveries],
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        func at(_ milliseconds: Int64) -> Timestamp { Timestamp(nanoseconds: milliseconds * 1_000_000) }
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connections = (0..<people).map { person in
            decoder.open(
                Opening(
                    number: person + 1, time: at(0), client: Endpoint(loopback, UInt16(40_000 + person)),
                    server: Endpoint(loopback, 9_000)))
        }
        func frame(_ from: Direction, _ kind: UInt8, _ message: Message) -> [UInt8] {
            if identity == .member {
                let text =
                    kind == 1
                    ? #"{"kind":"hello","me":"p\#(message.sender)"}"#
                    : from == .fromClient
                        ? #"{"kind":"chat","me":"p\#(message.sender)","peer":{"name":"p\#(message.target)"},"text":"\#(message.body)"}"#
                        : #"{"text": "\#(message.body)", "kind":"chat", "by":"p\#(message.sender)"}"#
                return Array(text.utf8)
            }
            let (id, body) = (message.id, Array(message.body.utf8))
            return [kind, UInt8(message.sender), UInt8(message.target)]
                + [UInt8(id >> 24 & 255), UInt8(id >> 16 & 255), UInt8(id >> 8 & 255), UInt8(id & 255)]
                + [0, UInt8(body.count)] + body
        }
        var events: [(time: Int64, connection: Int, from: Direction, bytes: [UInt8])] = []
        for person in 0..<people {
            let hello = Message(sender: person, target: person, body: "", sent: 0, receptions: [], id: 0)
            events.append((1, person, .fromClient, frame(.fromClient, 1, hello)))
        }
        for message in messages {
            events.append((message.sent, message.sender, .fromClient, frame(.fromClient, 2, message)))
            for time in message.receptions {
                events.append((time, message.target, .fromServer, frame(.fromServer, 2, message)))
            }
        }
        let ordered = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
        for (_, event) in ordered {
            connections[event.connection].received(
                event.bytes.span.bytes, from: event.from, at: at(event.time), packet: 0)
        }
        let end = (events.map(\.time).max() ?? 0) + 5_000
        for connection in connections { connection.closed(Closing(reason: .fin, by: .fromClient, time: at(end))) }
        decoder.finish()
        var outcome = Outcome(result: try #require(deliveries.results().first).outcome)
        // A message is identified by its sender's connection, and its index there after the greeting.
        var numbers: [Int: [Int]] = [:]
        for (place, message) in messages.enumerated() { numbers[message.sender, default: []].append(place) }
        for line in try traceLines(output.text) where line.event == "finding" {
            let sender = Int(try #require(line.number("sentConnection", of: "data"))) - 1
            let place = try #require(numbers[sender])[Int(try #require(line.number("sentIndex", of: "data"))) - 1]
            switch line["kind"] {
            case "delivery-missing": outcome.missing.append(place)
            case "delivery-twice": outcome.twice.append(place)
            case "delivery-out-of-order": outcome.overtaken.append(place)
            default: Issue.record("\(line)")
            }
        }
        return outcome
    }

    /// Messages of random pairs, each pair's 100 ms apart or more, with a transit time of 10 to 60 ms.
    private func conversation(_ count: Int, people: Int, using generator: inout SeededGenerator) -> [Message] {
        var last: [Int: Int64] = [:]
        var now: Int64 = 100
        return (0..<count).map { id in
            let sender = Int.random(in: 0..<people, using: &generator)
            let target = (sender + Int.random(in: 1..<people, using: &generator)) % people
            now = max(now + Int64.random(in: 1...40, using: &generator), (last[sender * 10 + target] ?? 0) + 100)
            last[sender * 10 + target] = now
            return Message(
                sender: sender, target: target, body: "message \(id)", sent: now,
                receptions: [now + Int64.random(in: 10...60, using: &generator)], id: id)
        }
    }

    @Test(arguments: 0..<12) func whatIsPlantedIsFound(round: Int) throws {
        var generator = SeededGenerator(seed: UInt64(round))
        let identity = Identity.allCases[round % 3]
        var messages = conversation(700, people: 3, using: &generator)
        var (missing, twice, overtaken): ([Int], [Int], [Int]) = ([], [], [])
        for place in messages.indices {
            // With an id, the contents do not matter.
            if identity == .id { messages[place].body = "the same" }
            switch Int.random(in: 0..<12, using: &generator) {
            case 0:
                messages[place].receptions = []
                missing.append(place)
            case 1:
                messages[place].receptions.append(
                    messages[place].receptions[0] + Int64.random(in: 1...900, using: &generator))
                twice.append(place)
            case 2:
                messages[place].receptions[0] += Int64.random(in: 60...800, using: &generator)
            default: break
            }
        }
        for (place, message) in messages.enumerated() {
            guard let came = message.receptions.first else { continue }
            let isOvertaken = messages[(place + 1)...].contains {
                $0.sender == message.sender && $0.target == message.target && ($0.receptions.first ?? .max) < came
            }
            if isOvertaken { overtaken.append(place) }
        }
        let found = try play(messages, people: 3, identity)
        #expect(found.missing.sorted() == missing)
        #expect(found.twice.sorted() == twice)
        #expect(found.overtaken.sorted() == overtaken)
        #expect(found.result.sent == messages.count && found.result.delivered == messages.count - missing.count)
        let truth = messages.compactMap { message in message.receptions.first.map { $0 - message.sent } }
        #expect(found.result.times.maximum == .milliseconds(truth.max() ?? 0))
        #expect(found.result.times.minimum == .milliseconds(truth.min() ?? 0))
    }

    @Test(arguments: 0..<8) func whatIsLostAmongEqualMessagesIsFound(round: Int) throws {
        var generator = SeededGenerator(seed: UInt64(round))
        var messages = conversation(600, people: 3, using: &generator)
        var missing: [Int] = []
        for place in messages.indices {
            messages[place].body = ["ok", "yes", "no"][round % 2 == 0 ? 0 : Int.random(in: 0..<3, using: &generator)]
            guard Int.random(in: 0..<10, using: &generator) == 0 else { continue }
            messages[place].receptions = []
            missing.append(place)
        }
        let found = try play(messages, people: 3, round % 4 < 2 ? .body : .member)
        #expect(found.missing.sorted() == missing)
        #expect(found.twice == [] && found.overtaken == [])
        #expect(found.result.times.maximum <= .milliseconds(60))
    }
}
