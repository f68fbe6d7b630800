import Analysis
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// What analyses leave out because of their limits does not depend on how many threads share a capture.
@Suite struct BucketLimitTests {
    private enum Act {
        case open
        case tick
        case finish
        case close(CloseReason)
    }

    /// Something happens on a connection of a client, in milliseconds.
    private struct Step {
        var time: Int
        var client: Int
        var number: Int
        var act: Act
    }

    private static let clients = 150
    private static let server = IPAddress(v4: 0x0a01_0001)

    private func format(_ heartbeat: String = "") throws -> Format {
        let yaml = """
            format: talk
            framing: { rule: delimiter, end: "\\n" }
            body: text
            frame: { type: [{ when: body.text == "beat", is: beat }, { is: line }] }
            """
        return try FormatLoader.load(yaml + "\n" + heartbeat, file: "talk")
    }

    /// How many findings there are of the connections of a share; nil: of all.
    private func count(_ steps: [Step], _ format: Format, _ analysis: any Analysis, of share: CaptureShare?) -> Int {
        let decoder = Decoder(DecodingOptions(.fixed(format)), analyses: [analysis], sinks: [])
        let bytes = Array("tick\n".utf8)
        var connections: [Int: any ConnectionReceiver] = [:]
        for step in steps {
            let client = IPAddress(v4: 0x0a00_0000 + UInt32(step.client))
            guard share?.contains(client, Self.server) ?? true else { continue }
            let time = Timestamp(nanoseconds: Int64(step.time) * 1_000_000)
            decoder.advance(to: time)
            switch step.act {
            case .open:
                connections[step.number] = decoder.open(
                    Opening(
                        number: step.number, time: time, client: Endpoint(client, 40_000),
                        server: Endpoint(Self.server, 9_000)))
            case .tick:
                connections[step.number]?.received(bytes.span.bytes, from: .fromClient, at: time, packet: 0)
            case .finish: connections[step.number]?.finished(.fin, from: .fromClient, at: time)
            case .close(let reason):
                connections[step.number]?.closed(Closing(reason: reason, by: .fromServer, time: time))
            }
        }
        decoder.finish()
        return decoder.summary.formats.values.reduce(0) { $0 + $1.findings.values.reduce(0, +) }
    }

    /// One thread finds what several find together, and not what it would find without the limit.
    private func check(
        _ steps: [Step], _ format: Format, without unlimited: any Analysis, with limited: () -> any Analysis
    ) {
        let ordered = steps.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
        let alone = count(ordered, format, limited(), of: nil)
        #expect(alone != count(ordered, format, unlimited, of: nil), "no limit is reached")
        for threads in [2, 3, 8] {
            let shares = (0..<threads).map { CaptureShare($0, of: threads) }
            let parts = shares.map { count(ordered, format, limited(), of: $0) }
            #expect(parts.reduce(0, +) == alone && parts.allSatisfy { $0 > 0 }, "\(threads) threads: \(parts)")
        }
    }

    @Test func threadsShareWholeBuckets() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        // The hosts of a packet have one family.
        func address(isIPv4: Bool) -> IPAddress {
            isIPv4 ? IPAddress(v4: UInt32(generator.next() >> 32)) : IPAddress(v6: generator.next(), generator.next())
        }
        let shares = CaptureShare.balanced((0..<HostBuckets.count).map { $0 }, into: 3)
        for round in 0..<1_000 {
            let (one, other) = (address(isIPv4: round % 2 == 0), address(isIPv4: round % 2 == 0))
            #expect(HostBuckets.bucket(one, other) == HostBuckets.bucket(other, one), "seed \(seed)")
            let having = shares.filter { $0.has(HostBuckets.bucket(one, other)) }
            #expect(having.count == 1 && shares.filter { $0.contains(one, other) } == having, "seed \(seed)")
        }
    }

    /// Connections are known by the addresses that IPv4-mapped ones represent, and so are their buckets.
    @Test func mappedAddressesAreThoseThatTheyRepresent() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1_000 {
            let bits = UInt32(generator.next() >> 32)
            let (plain, mapped) = (IPAddress(v4: bits), IPAddress(v6: 0, 0xffff_0000_0000 | UInt64(bits)))
            for other in [IPAddress(v4: UInt32(generator.next() >> 32)), IPAddress(v6: generator.next(), 7)] {
                #expect(HostBuckets.bucket(plain, other) == HostBuckets.bucket(mapped, other), "seed \(seed)")
                #expect(HostBuckets.bucket(other, plain) == HostBuckets.bucket(mapped, other), "seed \(seed)")
            }
            #expect(HostBuckets.bucket(plain, plain) == HostBuckets.bucket(mapped, mapped), "seed \(seed)")
        }
    }

    @Test func reconnectStorms() throws {
        var steps: [Step] = []
        for client in 0..<Self.clients {
            for attempt in 0..<7 {
                let (number, time) = (1 + 7 * client + attempt, client + 150 * attempt)
                steps.append(Step(time: time, client: client, number: number, act: .open))
                steps.append(Step(time: time + 100, client: client, number: number, act: .close(.reset)))
            }
        }
        check(steps, try format(), without: ReconnectStorms()) { ReconnectStorms(mostPairs: 1, mostEvents: 3) }
    }

    /// Heartbeats are waited for on some connections; on others their absence is found at the end, when it is too late to see that
    /// their sender had closed its side before one was due.
    @Test func heartbeatsThatNeverCome() throws {
        let heartbeat = "heartbeat: { when: type == \"beat\", from: client, every: 1 s, gap: 3 s }"
        var steps: [Step] = []
        for client in 0..<Self.clients {
            func add(_ time: Int, _ act: Act) {
                steps.append(Step(time: time + client, client: client, number: 1 + client, act: act))
            }
            add(0, .open)
            add(1_000, .finish)
            add(10_000, .close(.fin))
        }
        check(steps, try format(heartbeat), without: HeartbeatMonitor()) { HeartbeatMonitor(mostExpected: 1) }
    }

    @Test func learnedHeartbeats() throws {
        var steps: [Step] = []
        for client in 0..<Self.clients {
            func add(_ time: Int, _ act: Act) {
                steps.append(Step(time: time + client, client: client, number: 1 + client, act: act))
            }
            add(0, .open)
            for tick in 0..<8 { add(100 + 1_000 * tick, .tick) }
            add(20_000, .tick)
            add(20_500, .close(.fin))
        }
        check(steps, try format(), without: LearnedHeartbeats()) { LearnedHeartbeats(mostConnections: 1) }
    }

    /// A connection that is over makes room for another one of its bucket.
    @Test(arguments: [false, true]) func connectionsThatAreOverMakeRoom(isOver: Bool) throws {
        var steps: [Step] = []
        for number in 1...2 {
            let start = isOver ? 30_000 * number : 0
            func add(_ time: Int, _ act: Act) {
                steps.append(Step(time: start + time, client: 1, number: number, act: act))
            }
            add(0, .open)
            for tick in 0..<8 { add(100 + 1_000 * tick, .tick) }
            add(20_500, .close(.fin))
        }
        let ordered = steps.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
        let format = try format()
        let each = count(Array(steps.prefix(10)), format, LearnedHeartbeats(), of: nil)
        #expect(each > 0)
        #expect(count(ordered, format, LearnedHeartbeats(mostConnections: 1), of: nil) == (isOver ? 2 : 1) * each)
    }
}
