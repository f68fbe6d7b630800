import Framing
import Interception
import NIOCore
import NIOEmbedded
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy
@testable import frametap

/// What a proxy with rules records: what both sides sent, and what it passed on, live and in the capture.
@Suite struct LegTests {
    private let client = Endpoint(IPAddress(v4: 0x7f00_0001), 40_000)
    private let server = Endpoint(IPAddress(v4: 0x7f00_0001), 8_088)
    private let listener = Listener(
        listen: .tcp(HostPort(host: "127.0.0.1", port: 1_080)),
        server: .fixed(.tcp(HostPort(host: "192.0.2.1", port: 9_000))))

    private struct Record {
        let clock = ScriptedRecording.Clock()
        let queue: RecordingQueue
        let recorder: Recorder
        private let ndjson = MemoryOutput()
        private let capture = MemoryOutput()
        private let options: DecodingOptions

        init(_ format: String, limit: Int = 64 << 20) throws {
            self.init(try FormatOptions.format(format), limit: limit)
        }

        init(_ format: Format, limit: Int = 64 << 20) {
            queue = RecordingQueue(limit: limit, clock: { [clock] in clock.now() })
            options = DecodingOptions(.fixed(format))
            let packets = PacketRecorder(to: capture, tool: "tests", start: clock.now())
            let decoder = Decoder(
                options, sinks: [packets.frames, NDJSONWriter(to: ndjson, source: "tests", tool: "tests")])
            recorder = Recorder(queue: queue, decoder: decoder, packets: packets)
        }

        /// The trace, and that of the decoded capture.
        func end() throws -> (live: [TraceLine], offline: [TraceLine]) {
            clock.pass(1_000_000)
            queue.finish()
            while recorder.recordBatch() {}
            return (try traceLines(ndjson.text), try DecodedCapture(capture.bytes, options: options).lines())
        }
    }

    // MARK: Rules

    /// Rules of which each action says how many bytes it added or removed; and others, which move bytes or cut them.
    private static let rules = [
        "{drop: all, probability: 0.3}", "{duplicate: all, every: 3}", "{swap: all, probability: 0.2}",
        "{delay: 20 ms, jitter: 30 ms, probability: 0.4}", "{inject: 0x780a, probability: 0.2}",
        "{replace: {body: {text: otherwise}}, when: length > 6}", "{segment: every-byte, probability: 0.5}",
        "{hold: all, probability: 0.1, for: 40 ms}", "{segment: merge 3}",
    ]

    private static func lines(_ generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0..<12, using: &generator)).flatMap { number in
            Array("\(number)".utf8) + [UInt8](repeating: 97, count: Int.random(in: 0..<9, using: &generator)) + [10]
        }
    }

    /// Both sides say lines, in any pieces, under up to three rules.
    @Test func eachLegIsWhatOneSideSawAndAddsUp() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<150 {
            let place = Comment(rawValue: "seed \(seed), round \(round)")
            let texts = Self.rules.shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator))
            let format = try #require(try BuiltInFormats.format(named: "line"))
            let rules = RuleSet(
                try texts.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }, seed: seed)
            let record = try Record("line")
            let proxy = EmbeddedProxy(listener, queue: record.queue) { options in
                options.stages = { connection, _ in rules.stages(of: connection, format: format) }
            }
            let left = try proxy.accept()
            let right = try #require(try proxy.connect())
            var rest = [Self.lines(&generator)[...], Self.lines(&generator)[...]]
            let sent = rest.map { Array($0) }
            while rest.contains(where: { !$0.isEmpty }) {
                let side = Int.random(in: 0..<2, using: &generator)
                let piece = rest[side].prefix(Int.random(in: 1..<20, using: &generator))
                rest[side] = rest[side].dropFirst(piece.count)
                if !piece.isEmpty { (side == 0 ? left : right).receive(piece) }
                let pause = Int64.random(in: 0..<30, using: &generator)
                proxy.loop.advanceTime(by: .milliseconds(pause))
                record.clock.pass(pause * 1_000_000)
            }
            left.finish()
            right.finish()
            for _ in 0..<50 { proxy.loop.advanceTime(by: .milliseconds(100)) }
            let (live, offline) = try record.end()
            #expect(ComparableTrace(live).differences(to: ComparableTrace(offline)) == [], place)
            let actions = live.filter { $0.event == "action" }
            #expect(actions.map(\.text) == offline.filter { $0.event == "action" }.map(\.text), place)
            for (side, received) in [("client", right.sent), ("server", left.sent)] {
                let bytes = side == "client" ? sent[0] : sent[1]
                let (into, out) = (closed(live, "in", side), closed(live, "out", side))
                #expect(into.bytes == bytes.count && into.bytes == into.sum, place)
                #expect(out.bytes == received.count && out.bytes == out.sum, place)
                // The legs differ by what the actions added and removed; of several on a frame, the last one counts.
                let own = actions.filter { $0.from == side && $0["action"] != "segment" }
                let frames = Dictionary(grouping: own.filter { $0["action"] != "inject" }) { $0[number: "index"] }
                let last = frames.values.compactMap(\.last) + own.filter { $0["action"] == "inject" }
                let added = last.reduce(0) {
                    $0 + ($1[number: "passed"] ?? 0) - ($1[number: "length"] ?? 0)
                }
                #expect(out.bytes - into.bytes == added, "\(place): \(texts)")
                #expect(text(live, "in", side) == bytes && text(live, "out", side) == received, place)
            }
            #expect(live.last?.number("bytes", of: "out") == right.sent.count + left.sent.count, place)
        }
    }

    private func closed(_ trace: [TraceLine], _ leg: String, _ side: String) -> (bytes: Int, sum: Int) {
        let line = trace.first { $0.event == "closed" && $0["leg"] == leg }
        func number(_ key: String) -> Int { line?.number(key, of: side) ?? -1 }
        return (
            number("bytes"), number("framed") + number("unframed") + number("padding") + number("missing")
        )
    }

    /// The stream of a side, from its lines.
    private func text(_ trace: [TraceLine], _ leg: String, _ side: String) -> [UInt8] {
        trace.filter { $0.event == "frame" && $0["leg"] == leg && $0.from == side }
            .flatMap { Array(($0.text(of: "body", "text") ?? "").utf8) + [10] }
    }

    // MARK: Secrets

    /// Formats with a secret, and what a side says: a frame that has it, and one that has none.
    private static let secretive = [
        (
            """
            format: lines
            framing: { rule: delimiter, end: "\\n" }
            body: json
            secret: body.password
            """, ["", "\n"], ["", "\n"]
        ),
        (
            """
            format: typed
            header: [{ kind: char }, { length: u16 }]
            framing: { rule: length-field, field: length }
            frame: { type: kind }
            body: json
            secret: { value: body.password, when: type == "L" }
            """, ["L\0\u{2a}", ""], ["N\0\u{16}", ""]
        ),
    ]

    /// Flipped bits, in the name of a secret, in the type that has it or in a length, disclose nothing, and hide only that.
    @Test(arguments: 0..<secretive.count) func aChangedFrameDisclosesNoSecret(_ kind: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let (file, login, note) = Self.secretive[kind]
        let format = try FormatLoader.load(file, file: "secret.yaml")
        let secret = "Zq9Xw7Kv3JmYt5Lp"
        let (user, plain) = (#"{"user":"a","password":"\#(secret)"}"#, #"{"note":"in the open"}"#)
        #expect(user.utf8.count == 0x2a && plain.utf8.count == 0x16)
        let said = login[0] + user + login[1] + note[0] + plain + note[1]
        var shown = 0
        for round in 0..<200 {
            let place = Comment(rawValue: "seed \(seed), round \(round)")
            let rules = RuleSet(
                [try RuleFile.rule("{corrupt: anywhere, bits: \(round % 3 + 1)}", number: 1, format: format)],
                seed: seed &+ UInt64(round))
            let record = Record(format)
            let proxy = EmbeddedProxy(listener, queue: record.queue) { options in
                options.stages = { connection, _ in rules.stages(of: connection, format: format) }
            }
            let left = try proxy.accept()
            let right = try #require(try proxy.connect())
            left.receive(Array((said + said).utf8))
            left.finish()
            right.finish()
            for _ in 0..<50 { proxy.loop.advanceTime(by: .milliseconds(100)) }
            let (live, offline) = try record.end()
            #expect(ComparableTrace(live).differences(to: ComparableTrace(offline)) == [], place)
            let text = (live + offline).map(\.text).joined(separator: "\n")
            let bytes = Array(secret.utf8)
            for start in 0...bytes.count - 5 {
                let piece = bytes[start..<start + 5]
                #expect(!text.contains(String(decoding: piece, as: UTF8.self)), place)
                #expect(!text.contains(Hexadecimal.text(piece)), place)
            }
            #expect(live.count { $0["leg"] == "in" && $0.text.contains(plain) } == 2, place)
            shown += live.count { $0["leg"] == "out" && $0.text.contains("in the ") && !$0.text.contains("«secret»") }
        }
        #expect(shown > 0)
    }

    // MARK: The end of a connection

    @Test(arguments: [("reset: 5", "rule"), ("refuse:", "rule"), ("{limit: 5, end: fin}", "fin")])
    func whatARuleEndsIsSaidOfBothLegs(rule: String, reason: String) throws {
        let rules = RuleSet([try RuleFile.rule(rule, number: 1, format: nil)], seed: 1)
        let record = try Record("line")
        let proxy = EmbeddedProxy(listener, queue: record.queue) { options in
            options.stages = { connection, _ in rules.stages(of: connection, format: nil) }
        }
        let left = try proxy.accept()
        let right = try #require(try proxy.connect())
        left.receive(Array("one\ntwo\n".utf8))
        proxy.loop.advanceTime(by: .seconds(1))
        left.finish()
        right.finish()
        proxy.loop.advanceTime(by: .seconds(11))
        let (live, offline) = try record.end()
        let ends = live.filter { $0.event == "closed" }
        #expect(ends.map { $0["reason"] } == [reason, reason], "\(ends.map(\.text))")
        #expect(reason == "fin" || ends.allSatisfy { $0.text.contains("\"by\":null") })
        #expect(ComparableTrace(live).differences(to: ComparableTrace(offline)) == [])
    }

    /// What a slow line still has when a RST stops waiting is reported, although nothing is received any more.
    @Test func whatARSTCannotWaitForIsReported() throws {
        let rules = RuleSet([try RuleFile.rule("rate: 1 KiB/s", number: 1, format: nil)], seed: 1)
        let record = try Record("chunk")
        let proxy = EmbeddedProxy(listener, queue: record.queue) { options in
            options.stages = { connection, _ in rules.stages(of: connection, format: nil) }
        }
        let left = try proxy.accept()
        let right = try #require(try proxy.connect())
        left.receive([UInt8](repeating: 7, count: 20_480))
        left.reset()
        for _ in 0..<12 {
            proxy.loop.advanceTime(by: .seconds(1))
            record.clock.pass(1_000_000_000)
        }
        #expect(!right.isOpen)
        let (live, offline) = try record.end()
        let discarded = live.filter { $0.event == "action" && $0["action"] == "discard" }
        #expect(discarded.map { $0[number: "length"] } == [20_480 - right.sent.count])
        let actions = live.filter { $0.event == "action" }
        #expect(actions.map { $0["action"] } == ["rate", "discard"])
        #expect(actions.map(\.text) == offline.filter { $0.event == "action" }.map(\.text))
        #expect(closed(live, "in", "client").bytes == 20_480 && closed(live, "out", "client").bytes == right.sent.count)
    }

    /// Neither side has ended it, on either leg.
    @Test func whatIsOpenWhenTheProxyStops() throws {
        let rules = RuleSet([try RuleFile.rule("latency: 1 s", number: 1, format: nil)], seed: 1)
        let record = try Record("line")
        let proxy = EmbeddedProxy(listener, queue: record.queue) { options in
            options.stages = { connection, _ in rules.stages(of: connection, format: nil) }
        }
        let left = try proxy.accept()
        let right = try #require(try proxy.connect())
        left.receive(Array("one\n".utf8))
        proxy.context.relays.stop()
        for wire in [left, right] { wire.channel.pipeline.close(promise: nil) }
        proxy.loop.advanceTime(by: .seconds(30))
        let ends = try record.end().live.filter { $0.event == "closed" }
        #expect(ends.map { $0["reason"] } == ["end-of-input", "end-of-input"], "\(ends.map(\.text))")
    }

    @Test func whyTheProxyDidNotRelayIsInTheCapture() throws {
        let record = try Record("line")
        for (number, reason) in [CloseReason.refusedByLimit, .connectFailed, .tlsFailed].enumerated() {
            record.queue.refuse(
                client: Endpoint(client.address, UInt16(50_000 + number)), server: server, reason: reason,
                by: .fromClient, detail: "why")
            record.clock.pass(1_000)
        }
        let (live, offline) = try record.end()
        func reasons(_ trace: [TraceLine]) -> [String?] { trace.filter { $0.event == "closed" }.map { $0["reason"] } }
        #expect(reasons(live) == ["refused-by-limit", "connect-failed", "tls-failed"])
        #expect(reasons(offline) == reasons(live))
        let by = offline.filter { $0.event == "closed" }.map { $0["by"] }
        #expect(by == ["client", "server", "client"], "a capture's refusal is the server's")
    }

    // MARK: Limits

    /// Both legs keep their number, whatever the recorder has missed of either.
    @Test func aSlowRecorderKeepsTheLegsTogether() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<40 {
            let record = try Record("chunk", limit: 30_000)
            var open: [(received: RecordingQueue.Handle, passedOn: RecordingQueue.Handle, port: UInt16)] = []
            var ended: Set<RecordingQueue.Handle> = []
            var hasNews = false
            for _ in 0..<120 {
                record.clock.pass(1_000)
                switch Int.random(in: 0..<10, using: &generator) {
                case 0...1:
                    // A port is used again as soon as its connection is over.
                    guard
                        let port = (UInt16(30_000)..<30_006).first(where: { port in !open.contains { $0.port == port } }
                        )
                    else { continue }
                    let client = Endpoint(client.address, port)
                    let received = record.queue.open(leg: .in, client: client, server: server)
                    open.append(
                        (received, record.queue.openPassedOn(of: received, client: client, server: server), port))
                case 2:
                    guard let place = open.indices.randomElement(using: &generator) else { continue }
                    let connection = open[place]
                    // What is passed on may end later.
                    if ended.insert(connection.received).inserted {
                        record.queue.end(connection.received, because: .rule)
                    } else {
                        record.queue.end(connection.passedOn, because: .rule)
                        open.remove(at: place)
                    }
                case 3:
                    guard hasNews else { continue }
                    _ = record.recorder.recordBatch()
                    hasNews = false
                    continue
                default:
                    guard let connection = open.randomElement(using: &generator) else { continue }
                    let isPassedOn = ended.contains(connection.received) || Bool.random(using: &generator)
                    let handle = isPassedOn ? connection.passedOn : connection.received
                    let bytes = ByteBuffer(repeating: 7, count: Int.random(in: 1...6_000, using: &generator))
                    record.queue.receive(bytes, on: handle, from: .fromClient)
                }
                hasNews = true
            }
            let (live, offline) = try record.end()
            let place = Comment(rawValue: "seed \(seed), round \(round)")
            #expect(live.last?[number: "dropped"] == record.queue.losses.dropped.bytes, place)
            let opened = live.filter { $0.event == "opened" }
            let legs = Dictionary(grouping: opened, by: \.connection).mapValues { $0.compactMap { $0["leg"] } }
            // A leg that came and went unrecorded is missing.
            #expect(legs.values.allSatisfy { [["in", "out"], ["in"]].contains($0) }, "\(place): \(legs)")
            #expect(
                try ComparableTrace(renumbering: live).withoutClosed
                    .differences(to: ComparableTrace(offline).withoutClosed) == [],
                place)
        }
    }
}
