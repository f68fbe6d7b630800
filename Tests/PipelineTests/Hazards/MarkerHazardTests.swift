import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `marker`: segmented frames, and broadcasts that are not confirmed.
@Suite struct MarkerHazardTests {
    @Test func framesAfterMarkers() async throws {
        try await HazardRounds.rounds { generator, seed in
            let bodies = (0..<4).map { _ in
                HazardRounds.body(6, using: &generator).map { $0 == 0x61 || $0 == 0x62 ? 0x63 : $0 } + [0x31]
            }
            let chunks = HazardRounds.cut(bodies.map { Array("ab".utf8) + $0 }, using: &generator)
            var receiver = PerReadSplitter()
            var made: [[UInt8]?] = []
            for input in chunks.flatMap({ receiver.receive($0.span.bytes, at: Timestamp(nanoseconds: 0)) }) {
                if case .message(let message) = input { made.append(message.body) } else { made.append(nil) }
            }
            let failure = HazardRounds.firstFailure(bodies, made)
            let reported = try HazardRounds.trace(.splitFrame, "marker", chunks, from: .fromServer).frames
            #expect(
                reported.first == failure,
                "seed \(seed): \(reported), \(chunks.map { String(decoding: $0, as: UTF8.self) })")
            return failure != nil
        }
    }

    /// A server and three devices, some of whose receipts are lost: for the published server, each broadcast that ended its run
    /// is reported; for a server that stops waiting, each unconfirmed one.
    @Test(arguments: [true, false]) func broadcastsWithoutReceipt(isPublished: Bool) async throws {
        try await HazardRounds.rounds(60) { generator, seed in
            var run = try BroadcastRun(isPublished: isPublished, loss: 0.03, generator)
            run.play()
            generator = run.generator
            let traced = try HazardRounds.trace(.lostReceipt, "marker", run.events)
            let reported = Set(traced.reported.map { [$0.connection, $0.index ?? -1] })
            #expect(reported == run.lost, "seed \(seed): \(traced.reported), \(run.lost)")
            #expect(traced.reported.allSatisfy { $0.from == .fromServer } && reported.count == traced.reported.count)
            #expect(run.hasStalled == (isPublished && !run.lost.isEmpty), "seed \(seed)")
            return !reported.isEmpty
        }
    }
}

/// A server of `marker` and three devices, on a clock of their own.
private struct BroadcastRun {
    private enum Due {
        case timer(PeerTimer)
        case device([UInt8], connection: Int)
    }

    var events: [HazardRounds.Event] = []
    /// The broadcasts, by connection and index, whose receipt is lost.
    var lost: Set<[Int]> = []
    /// Whether no further broadcast was due, though the devices were present.
    private(set) var hasStalled = true
    var generator: SeededGenerator

    private var server: BroadcastServer
    private var due: [(time: Timestamp, what: Due)] = []
    private var now = Timestamp(nanoseconds: 0)
    private var frames: [Int: Int] = [:]
    private let loss: Double
    private static let end = Timestamp(seconds: 40, nanoseconds: 0)

    init(isPublished: Bool, loss: Double, _ generator: SeededGenerator) throws {
        var options = PeerOptions()
        if isPublished { options.asPublished = [Hazard.lostReceipt.rawValue] }
        server = BroadcastServer(try PeerSetup(Broadcasts.self, options))
        (self.loss, self.generator) = (loss, generator)
    }

    mutating func play() {
        perform(server.started(at: now))
        for number in 1...3 {
            perform(server.opened(number, at: now))
            due.append(
                (
                    now + .milliseconds(Int64(number)),
                    .device(BroadcastText.link("d\(number)", at: now), connection: number)
                ))
            for second in 1...50 {
                let time = now + .seconds(Double(second)) + .milliseconds(Int64(100 * number))
                due.append((time, .device(Array("d\(number)".utf8), connection: number)))
            }
        }
        while let next = due.indices.min(by: { due[$0].time < due[$1].time }) {
            let (time, what) = due.remove(at: next)
            switch what {
            case .timer(let timer):
                // At the end, everything in progress is still confirmed.
                if time > Self.end, timer == "sweep" { continue }
                if time > Self.end, timer == "broadcast" {
                    hasStalled = false
                    continue
                }
                pass(to: time)
                perform(server.due(timer, at: now))
            case .device(let body, let number):
                pass(to: time)
                say(Array("ab".utf8) + body, from: .fromClient, number)
                perform(server.take(PeerMessage(body: body), on: number, at: now))
            }
        }
    }

    private mutating func pass(to time: Timestamp) {
        if time > now { events.append(.pause(time - now)) }
        now = max(now, time)
    }

    /// Bytes in one read or in two.
    private mutating func say(_ bytes: [UInt8], from direction: Direction, _ number: Int) {
        let (first, rest) = bytes.cut(at: Int.random(in: 0..<bytes.count, using: &generator))
        for part in [first, rest] where !part.isEmpty { events.append(.read(part, direction, connection: number)) }
    }

    private mutating func perform(_ actions: [PeerAction]) {
        for action in actions {
            switch action {
            case .wake(let timer, let wait):
                due.removeAll { if case .timer(timer) = $0.what { true } else { false } }
                due.append((now + wait, .timer(timer)))
            case .send(.messages(let messages), let number):
                for message in messages {
                    say(Array("ab".utf8) + message.body, from: .fromServer, number)
                    let index = frames[number, default: 0]
                    frames[number] = index + 1
                    guard Double.random(in: 0..<1, using: &generator) >= loss else {
                        lost.insert([number, index])
                        continue
                    }
                    let isLate = Int.random(in: 0..<10, using: &generator) == 0
                    let wait = Int64.random(in: isLate ? 1_000...2_500 : 5...150, using: &generator)
                    due.append(
                        (
                            now + .milliseconds(wait),
                            .device(BroadcastText.receipt("d\(number)", at: now), connection: number)
                        ))
                }
            default: continue
            }
        }
    }
}
