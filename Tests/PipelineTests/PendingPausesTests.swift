import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// The pending deadlines while both sides of connections send and pause, with frames ended by pauses.
@Suite struct PendingPausesTests {
    private let loopback = IPAddress(v4: 0x7f00_0001)

    private func time(_ milliseconds: Int) -> Timestamp {
        Timestamp(seconds: 1_795_248_000, nanoseconds: Int64(milliseconds) * 1_000_000)
    }

    private func open(_ number: Int, of decoder: Decoder) -> any ConnectionReceiver {
        decoder.open(
            Opening(
                number: number, time: time(0), client: Endpoint(loopback, UInt16(40_000 + number)),
                server: Endpoint(loopback, 9_000)))
    }

    /// Both sides send every 40 ms: each direction has one deadline pending, after 10 rounds and after 2,000.
    @Test(arguments: [1, 5]) func eachDirectionHasOneDeadline(_ connections: Int) throws {
        let format = try #require(try BuiltInFormats.format(named: "marker"))
        let decoder = Decoder(DecodingOptions(.fixed(format)), sinks: [])
        let open = (1...connections).map { self.open($0, of: decoder) }
        let bytes = Array("ab1381222333".utf8)
        var pending: Set<Int> = []
        for round in 1...2_000 {
            for (place, connection) in open.enumerated() {
                for (index, direction) in Direction.allCases.enumerated() {
                    let now = time(40 * round + 2 * place + index)
                    decoder.advance(to: now)
                    connection.received(bytes.span.bytes, from: direction, at: now, packet: round)
                }
            }
            pending.insert(decoder.pendingPauses)
        }
        #expect(pending == [2 * connections])
        // Neither side sends any more: the last frames end, and nothing is pending.
        decoder.advance(to: time(1_000_000))
        #expect(decoder.pendingPauses == 0)
        for connection in open { connection.closed(Closing(reason: .fin, by: nil, time: time(1_000_000))) }
        #expect(decoder.summary.total.bytes.frames == connections * 2 * 2_000)
    }

    /// The sides pause at random, and connections end with frames in progress.
    @Test func noSequenceOfPausesAndEndsAddsUp() throws {
        let format = try #require(try BuiltInFormats.format(named: "marker"))
        for seed in UInt64(1)...40 {
            var generator = SeededGenerator(seed: seed)
            let decoder = Decoder(DecodingOptions(.fixed(format)), sinks: [])
            var open: [Int: any ConnectionReceiver] = [:]
            var (now, number, most) = (0, 0, 0)
            for _ in 0..<1_000 {
                now += [1, 30, 250].randomElement(using: &generator) ?? 1
                decoder.advance(to: time(now))
                switch Int.random(in: 0..<8, using: &generator) {
                case 0 where open.count < 4:
                    number += 1
                    open[number] = self.open(number, of: decoder)
                case 1:
                    guard let any = open.keys.sorted().randomElement(using: &generator) else { continue }
                    open.removeValue(forKey: any)?.closed(Closing(reason: .fin, by: nil, time: time(now)))
                default:
                    guard let any = open.keys.sorted().randomElement(using: &generator) else { continue }
                    let bytes = Array((Bool.random(using: &generator) ? "abhello" : "more").utf8)
                    open[any]?.received(
                        bytes.span.bytes, from: Bool.random(using: &generator) ? .fromClient : .fromServer,
                        at: time(now), packet: 1)
                }
                most = max(most, decoder.pendingPauses - 2 * open.count)
            }
            #expect(most <= PendingDeadlines<Int>.slack, "seed \(seed): stale deadlines")
            for connection in open.values { connection.closed(Closing(reason: .fin, by: nil, time: time(now))) }
            decoder.finish()
            #expect(decoder.pendingPauses == 0, "seed \(seed)")
        }
    }

    /// Requests that are answered late, or not at all, and regular frames that are not declared as heartbeats.
    @Test func answersAndLearnedIntervalsHaveOneDeadlineEach() throws {
        let yaml = """
            format: ask
            framing: { rule: delimiter, end: "\\n" }
            frame: { type: [{ when: body.text startsWith "q", is: ask }, { is: answer }] }
            body: text
            pairs: [{ request: type == "ask", from: client, answer: type == "answer", within: 2 s }]
            """
        let format = try FormatLoader.load(yaml, file: "ask")
        for seed in UInt64(1)...20 {
            var generator = SeededGenerator(seed: seed)
            let (trips, learned) = (RoundTripMonitor(), LearnedHeartbeats())
            let decoder = Decoder(DecodingOptions(.fixed(format)), analyses: [trips, learned], sinks: [])
            let open = (1...3).map { self.open($0, of: decoder) }
            var (now, mostTrips, mostLearned) = (0, 0, 0)
            for _ in 0..<3_000 {
                now += [500, 500, 500, 500, 510, 7_000].randomElement(using: &generator) ?? 1
                decoder.advance(to: time(now))
                let isAsk = Int.random(in: 0..<3, using: &generator) > 0
                let bytes = Array((isAsk ? "q\n" : "a\n").utf8)
                open.randomElement(using: &generator)?.received(
                    bytes.span.bytes, from: isAsk ? .fromClient : .fromServer, at: time(now), packet: 1)
                mostTrips = max(mostTrips, trips.pendingDeadlines)
                mostLearned = max(mostLearned, learned.pendingDeadlines)
            }
            #expect(mostTrips > 0 && mostTrips <= 2 * 3 + PendingDeadlines<Int>.slack, "seed \(seed)")
            #expect(mostLearned <= 2 * 3 * 2 + PendingDeadlines<Int>.slack, "seed \(seed)")
            for connection in open { connection.closed(Closing(reason: .fin, by: nil, time: time(now))) }
            #expect(trips.pendingDeadlines == 0 && learned.pendingDeadlines == 0, "seed \(seed)")
        }
    }
}
