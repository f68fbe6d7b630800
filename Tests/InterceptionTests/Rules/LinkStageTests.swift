import Interception
import Streams
import TestSupport
import Testing

/// What rules do to all bytes, on a clock that the test moves.
@Suite struct LinkStageTests {
    private func play(
        _ texts: String..., pieces: [Conversations.Piece], pace: Interval = .milliseconds(1), seed: UInt64 = 1
    ) throws -> Played {
        let rules = try texts.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: nil) }
        return try Played(rules, seed: seed, nil, pieces, pace: pace)
    }

    private func bytes(_ count: Int, _ direction: Direction = .fromClient) -> Conversations.Piece {
        Conversations.Piece(bytes: (0..<count).map { UInt8(truncatingIfNeeded: $0) }, direction: direction)
    }

    @Test func latencyDelaysBothDirectionsAndTheirEnds() throws {
        let played = try play("latency: 200 ms", pieces: [bytes(3), bytes(5, .fromServer)])
        #expect(played.writes.map(\.time) == [200, 201])
        #expect(played.passed.fromClient.count == 3 && played.passed.fromServer.count == 5)
        #expect(played.ends.fromClient == .fin && played.ends.fromServer == .fin)
        let oneWay = try play("latency: 200 ms; from: client", pieces: [bytes(3), bytes(5, .fromServer)])
        #expect(oneWay.writes.map(\.time) == [1, 200])
    }

    @Test func jitterIsWithinItsBoundsAndKeepsTheOrder() throws {
        let pieces = (0..<200).map { Conversations.Piece(bytes: [UInt8($0)], direction: .fromClient) }
        let played = try play("latency: 20 ms; jitter: 10 ms", pieces: pieces)
        #expect(played.passed.fromClient == (0..<200).map { UInt8($0) })
        let delays = zip(played.writes.flatMap { write in write.bytes.map { (write.time, $0) } }, 0...).map {
            $0.0 - Double($1)
        }
        #expect(delays.allSatisfy { (20...31).contains($0) } && Set(delays).count > 10)
        let again = try play("latency: 20 ms; jitter: 10 ms", pieces: pieces)
        #expect(again.writes.map(\.time) == played.writes.map(\.time))
    }

    /// The rate over ten seconds, whatever the sizes of the chunks are.
    @Test(arguments: [100, 20_480, 1_000_000], [1, 700, 60_000]) func theRateIsWhatWasAsked(rate: Int, size: Int) throws
    {
        let total = rate * 10
        guard total / size < 3_000 else { return }
        let whole = bytes(size)
        let pieces = stride(from: 0, to: total, by: size).map { $0 + size <= total ? whole : bytes(total - $0) }
        let played = try play("rate: \(rate) B/s", pieces: pieces, pace: Interval(nanoseconds: 1))
        #expect(played.passed.fromClient.count == total && played.released == 0)
        let last = try #require(played.writes.last).time / 1_000
        #expect(abs(last - 10) < 0.05, "\(last) s")
        // At no time has more passed than the rate allows.
        var sum = 0
        for write in played.writes {
            sum += write.bytes.count
            #expect(Double(sum) <= Double(rate) * write.time / 1_000 + 1)
        }
    }

    @Test func aStallIsOnce() throws {
        let played = try play("stall: 300 ms; bytes: 5 B; from: client", pieces: [bytes(4), bytes(4), bytes(4)])
        #expect(played.writes.map(\.bytes.count).reduce(0, +) == 12)
        #expect(played.writes.first?.time == 0 && played.writes.last?.time == 301)
        #expect(played.writes.filter { $0.time < 300 }.map(\.bytes.count).reduce(0, +) == 5)
        #expect(played.reports.count == 1)
    }

    @Test(arguments: [
        ("limit: 10 B; from: client", 10, Ending.fin, Ending.fin),
        ("limit: 10 B; end: reset; from: client", 10, .reset, .reset),
        ("reset: 10 B; from: client", 10, .reset, .reset), ("reset:; from: client", 0, .reset, .reset),
        ("half-close: 10 B; from: client", 10, .fin, .fin), ("blackhole: 10 B; from: client", 10, .fin, .fin),
        ("refuse:", 0, .reset, .reset),
    ])
    func endings(rule: String, count: Int, client: Ending, server: Ending) throws {
        let played = try play(rule, pieces: [bytes(4), bytes(8), bytes(2, .fromServer), bytes(4)])
        #expect(
            played.passed.fromClient == Array(bytes(count).bytes.prefix(4))
                + Array(bytes(8).bytes.prefix(max(0, count - 4))))
        #expect(played.ends.fromClient == client && played.ends.fromServer == server)
        #expect(played.reports.count == 1)
        let passesAnswers = rule.hasPrefix("half-close") || rule.hasPrefix("blackhole")
        #expect(played.passed.fromServer.count == (passesAnswers ? 2 : 0))
    }

    /// Without `from`, each direction has its own count.
    @Test func bothDirections() throws {
        let pieces = [bytes(8), bytes(8, .fromServer), bytes(8), bytes(8, .fromServer)]
        for rule in ["blackhole: 10 B", "half-close: 10 B"] {
            let played = try play(rule, pieces: pieces)
            #expect(played.passed.fromClient.count == 10 && played.passed.fromServer.count == 10, "\(rule)")
            #expect(played.reports.map(\.direction) == [.fromClient, .fromServer])
        }
        let stalled = try play("stall: 300 ms; bytes: 10 B", pieces: pieces)
        for direction in Direction.allCases {
            let early = stalled.writes.filter { $0.time < 300 && $0.direction == direction }
            #expect(early.reduce(0) { $0 + $1.bytes.count } == 10 && stalled.passed[direction].count == 16)
        }
        #expect(try play("reset: 10 B", pieces: pieces).reports.count == 1)
    }

    /// Above 64 KiB that wait, reading pauses.
    @Test func aSlowLinePausesReading() throws {
        let set = RuleSet([try RuleFile.rule("rate: 1 KiB/s", number: 1, format: nil)], seed: 1)
        var chain = try #require(set.stages(of: 1, format: nil))
        let start = Timestamp(nanoseconds: 0)
        _ = chain.take(.began, at: start)
        #expect(
            !chain.take(.bytes([UInt8](repeating: 1, count: 60_000), .fromClient), at: start).contains(
                .pause(.fromClient)))
        #expect(
            chain.take(.bytes([UInt8](repeating: 1, count: 6_000), .fromClient), at: start).contains(
                .pause(.fromClient)))
        #expect(chain.take(.wake, at: start + .seconds(2)).contains(.resume(.fromClient)))
    }

    /// What a slow line still has when a RST stops waiting is lost, and reported.
    @Test func whatARSTDoesNotWaitForIsReported() throws {
        let set = RuleSet([try RuleFile.rule("rate: 1 KiB/s", number: 1, format: nil)], seed: 1)
        var chain = try #require(set.stages(of: 1, format: nil))
        let start = Timestamp(nanoseconds: 0)
        var outputs = chain.take(.began, at: start)
        outputs += chain.take(.bytes([UInt8](repeating: 1, count: 20_480), .fromClient), at: start)
        outputs += chain.take(.end(.reset, .fromClient), at: start)
        while let wake = chain.nextWake, wake <= start + .seconds(10) { outputs += chain.take(.wake, at: wake) }
        let passed = outputs.reduce(0) { if case .write(let bytes, _, _) = $1 { $0 + bytes.count } else { $0 } }
        #expect((10_000...10_250).contains(passed))
        #expect(outputs.suffix(2) == [.discarded(20_480 - passed, .fromClient), .end(.reset, .fromClient)])
        #expect(chain.heldBytes(.fromClient) == 0)
    }

    /// A slow line stays slow, and one that lets nothing pass keeps what it has, for longer than anything else is held.
    @Test func aLineReleasesNothing() throws {
        let stalled = try play("stall: 120 s", pieces: [bytes(3)])
        #expect(stalled.writes.map(\.time) == [120_000] && stalled.released == 0)
        let rule = LineRule(name: "bandwidth", action: .rate(bytesPerSecond: 0), from: nil)
        var chain = StageChain([LinkStage([rule], seed: 1, connection: 1)])
        let start = Timestamp(nanoseconds: 0)
        _ = chain.take(.began, at: start)
        let first = chain.take(.bytes([1, 2, 3], .fromClient), at: start)
        #expect(!first.contains { if case .write = $0 { true } else { false } })
        #expect(chain.nextWake == nil && chain.heldBytes(.fromClient) == 3)
        #expect(chain.take(.wake, at: start + .seconds(600)) == [])
        let outputs = chain.take(.command(.setLine([])), at: start + .seconds(601))
        #expect(outputs == [.write([1, 2, 3], .fromClient)])
    }

    /// One line for each rule and direction says that it applies.
    @Test func whatSlowsIsReportedOnce() throws {
        let pieces = [bytes(30), bytes(40, .fromServer), bytes(50), bytes(60, .fromServer)]
        let played = try play("latency: 20 ms; jitter: 5 ms", "rate: 2 KiB/s", "rate: 1 KiB/s", pieces: pieces)
        for (direction, length) in [(Direction.fromClient, 30), (Direction.fromServer, 40)] {
            let reports = played.reports.filter { $0.direction == direction }
            #expect(reports.map(\.rule) == ["latency-1", "rate-3"])
            #expect(reports.allSatisfy { ($0.offset, $0.length, $0.passed) == (0, length, length) })
            #expect(
                reports.map(\.detail) == [
                    "from here on 20 ms later, and up to 5 ms more", "from here on at most 1024 bytes a second",
                ])
        }
        let windowed = try play(
            "latency: 1 ms; window: 15 ms ..; from: client", pieces: pieces, pace: .milliseconds(10))
        #expect(windowed.reports.map(\.offset) == [30])
        let rules = [
            LineRule(name: "slicer", action: .slice(size: 10, variation: 0, pause: .seconds(0)), from: .fromClient),
            LineRule(name: "slow", action: .slowClose(.milliseconds(400)), from: nil),
        ]
        var chain = StageChain([LinkStage(rules, seed: 1, connection: 1)])
        let start = Timestamp(nanoseconds: 0)
        var outputs = chain.take(.began, at: start)
        for _ in 0..<2 { outputs += chain.take(.bytes(bytes(30).bytes, .fromClient), at: start) }
        outputs += chain.take(.end(.fin, .fromClient), at: start)
        let reports = outputs.compactMap { if case .report(let report) = $0 { report } else { nil } }
        #expect(reports.map(\.action) == ["slice", "slow-close"] && reports.map(\.offset) == [0, 60])
    }

    /// Slices are what was sent, in order.
    @Test func slicesAreTheBytes() {
        let rule = LineRule(name: "slicer", action: .slice(size: 10, variation: 3, pause: .milliseconds(1)), from: nil)
        var chain = StageChain([LinkStage([rule], seed: 1, connection: 1)])
        let (start, sent) = (Timestamp(nanoseconds: 0), bytes(1_000).bytes)
        var outputs = chain.take(.began, at: start)
        outputs += chain.take(.bytes(sent, .fromClient), at: start)
        while let wake = chain.nextWake { outputs += chain.take(.wake, at: wake) }
        let slices = outputs.compactMap { if case .write(let bytes, _, _) = $0 { bytes } else { nil } }
        #expect(slices.flatMap { $0 } == sent && slices.dropLast().allSatisfy { (7...13).contains($0.count) })
    }
}
