import Interception
import Streams
import TestSupport
import Testing

/// A chain of stages, event by event, on a clock that the test moves.
@Suite struct StageChainTests {
    private typealias Output = StageChain.Output

    private func time(_ milliseconds: Int64) -> Timestamp { Timestamp(nanoseconds: 0) + .milliseconds(milliseconds) }

    private func delay(_ milliseconds: Int64...) -> [any Stage] {
        milliseconds.map { DelayStage(delay: .milliseconds($0)) }
    }

    @Test func withoutAStageEverythingPassesAtOnce() {
        var chain = StageChain([])
        #expect(chain.take(.bytes([1, 2], .fromClient), at: time(0)) == [.write([1, 2], .fromClient)])
        #expect(chain.take(.end(.fin, .fromClient), at: time(0)) == [.end(.fin, .fromClient)])
        #expect(chain.take(.bytes([3], .fromServer), at: time(1)) == [.write([3], .fromServer)])
        #expect(chain.take(.end(.reset, .fromServer), at: time(1)) == [.end(.reset, .fromServer)])
        #expect(chain.nextWake == nil)
    }

    @Test func bytesPassWhenTheyAreDueAndNotBefore() {
        var chain = StageChain(delay(30))
        #expect(chain.take(.bytes([1], .fromClient), at: time(0)) == [])
        #expect(chain.take(.bytes([2], .fromClient), at: time(10)) == [])
        #expect(chain.nextWake == time(30) && chain.heldBytes(.fromClient) == 2)
        #expect(chain.take(.wake, at: time(29)) == [])
        #expect(chain.take(.wake, at: time(30)) == [.write([1], .fromClient)])
        #expect(chain.nextWake == time(40))
        // The other direction is not affected.
        #expect(chain.take(.bytes([9], .fromServer), at: time(40)) == [.write([2], .fromClient)])
        #expect(chain.take(.wake, at: time(70)) == [.write([9], .fromServer)])
        #expect(chain.nextWake == nil && chain.heldBytes(.fromClient) == 0)
    }

    /// A stage may emit earlier what came later: the order stays, unless it says otherwise.
    @Test func whatIsDueEarlierDoesNotOvertake() {
        struct Jitter: Stage {
            mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
                switch event {
                case .bytes(let bytes, let direction):
                    [.emit(bytes, direction, at: now + .milliseconds(Int64(bytes[0])))]
                case .end(let ending, let direction): [.end(ending, direction)]
                case .began, .wake, .release, .command: []
                }
            }
        }
        var chain = StageChain([Jitter()])
        for delay in [50, 10, 30] as [UInt8] {
            #expect(chain.take(.bytes([delay], .fromClient), at: time(0)) == [])
        }
        #expect(chain.take(.end(.fin, .fromClient), at: time(0)) == [])
        #expect(chain.take(.wake, at: time(49)) == [] && chain.nextWake == time(50))
        let passed = chain.take(.wake, at: time(50))
        #expect(passed == [[50], [10], [30]].map { .write($0, .fromClient) } + [.end(.fin, .fromClient)])
    }

    @Test func aFINFollowsWhatWasEmittedBeforeIt() {
        var chain = StageChain(delay(20, 30))
        #expect(chain.take(.bytes([1], .fromClient), at: time(0)) == [])
        #expect(chain.take(.end(.fin, .fromClient), at: time(1)) == [])
        #expect(chain.take(.wake, at: time(20)) == [])
        #expect(chain.take(.wake, at: time(50)) == [.write([1], .fromClient), .end(.fin, .fromClient)])
        #expect(chain.nextWake == nil)
    }

    @Test func aRSTWaitsForWhatWasEmittedBeforeIt() {
        var chain = StageChain(delay(200))
        #expect(chain.take(.bytes([1], .fromServer), at: time(0)) == [])
        #expect(chain.take(.end(.reset, .fromServer), at: time(1)) == [])
        #expect(chain.take(.wake, at: time(200)) == [.write([1], .fromServer), .end(.reset, .fromServer)])
        #expect(chain.nextWake == nil)
    }

    @Test func aRSTDoesNotWaitForLong() {
        var chain = StageChain(delay(20_000))
        #expect(chain.take(.bytes([1, 2, 3], .fromServer), at: time(0)) == [])
        #expect(chain.take(.end(.reset, .fromServer), at: time(5)) == [])
        #expect(chain.nextWake == time(10_005))
        #expect(chain.take(.wake, at: time(10_004)) == [])
        #expect(chain.take(.wake, at: time(10_005)) == [.discarded(3, .fromServer), .end(.reset, .fromServer)])
        // Nothing follows, whatever becomes due.
        #expect(chain.take(.bytes([4], .fromServer), at: time(10_006)) == [])
        #expect(chain.take(.wake, at: time(90_000)).contains(.write([4], .fromServer)) == false)
    }

    /// A client that closes and then resets has the server reset, too.
    @Test(arguments: [0, 1, 2]) func aRSTFollowsAFIN(stages: Int) {
        var chain = StageChain((0..<stages).map { _ in DelayStage(delay: .milliseconds(20)) })
        var outputs = chain.take(.end(.fin, .fromClient), at: time(0))
        outputs += chain.take(.end(.reset, .fromClient), at: time(1))
        outputs += chain.take(.end(.reset, .fromClient), at: time(2))
        #expect(outputs == [.end(.fin, .fromClient), .end(.reset, .fromClient)] && chain.nextWake == nil)
    }

    /// What overtakes other bytes does not keep them longer than that may be held.
    @Test func whatIsOvertakenIsNotHeldForLonger() {
        struct Express: Stage {
            mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
                guard case .bytes(let bytes, let direction) = event else { return [] }
                return [.emit(bytes, direction, at: now + .milliseconds(Int64(bytes[0]) * 1_000), overtakes: true)]
            }
        }
        var chain = StageChain([Express()])
        #expect(chain.take(.bytes([200], .fromClient), at: time(0)) == [])
        #expect(chain.take(.bytes([100], .fromClient), at: time(30_000)) == [])
        #expect(chain.nextWake == time(60_000))
        let written = chain.take(.wake, at: time(60_000)).filter { if case .write = $0 { true } else { false } }
        #expect(written == [.write([100], .fromClient), .write([200], .fromClient)])
    }

    /// Bytes that a stage emits after its end pass before it, as long as that has not passed.
    @Test func nothingPassesAfterAnEnd() {
        struct Late: Stage {
            mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
                switch event {
                case .bytes(let bytes, let direction): [.emit(bytes, direction, at: now + .milliseconds(10))]
                case .end(let ending, let direction):
                    [.end(ending, direction), .emit([9], direction, at: now), .wake(at: now + .milliseconds(50))]
                case .wake: [.emit([7, 7], .fromClient, at: now)]
                case .began, .release, .command: []
                }
            }
        }
        var chain = StageChain([Late()])
        #expect(chain.take(.bytes([1], .fromClient), at: time(0)) == [])
        #expect(chain.take(.end(.fin, .fromClient), at: time(1)) == [])
        let passed = chain.take(.wake, at: time(10))
        #expect(passed == [.write([1], .fromClient), .write([9], .fromClient), .end(.fin, .fromClient)])
        #expect(chain.take(.wake, at: time(51)) == [.discarded(2, .fromClient)])
    }

    @Test func whatIsHeldForTooLongPasses() {
        var chain = StageChain(delay(600_000))
        #expect(chain.take(.bytes([1, 2], .fromClient), at: time(0)) == [])
        #expect(chain.nextWake == time(60_000))
        #expect(chain.take(.wake, at: time(59_999)) == [])
        #expect(chain.take(.wake, at: time(60_000)) == [.released(2, .fromClient), .write([1, 2], .fromClient)])
    }

    @Test func aboveTheLimitReadingPausesUntilHalfHasPassed() {
        var limits = StageChain.Limits()
        limits.bytes = 100
        var chain = StageChain(delay(10), limits: limits)
        var outputs: [Output] = []
        for round in Int64(0)..<11 {
            outputs += chain.take(.bytes([UInt8](repeating: 7, count: 10), .fromClient), at: time(round))
        }
        // 100 bytes at 9 ms; at 10 ms the first 10 passed and as many arrived.
        #expect(!outputs.contains(.pause(.fromClient)))
        #expect(chain.take(.bytes([1], .fromClient), at: time(10)) == [.pause(.fromClient)])
        #expect(chain.take(.bytes([2], .fromServer), at: time(10)) == [], "the other direction goes on")
        for round in Int64(11)..<15 { #expect(!chain.take(.wake, at: time(round)).contains(.resume(.fromClient))) }
        let last = chain.take(.wake, at: time(16))
        #expect(last.contains(.resume(.fromClient)) && chain.heldBytes(.fromClient) <= 50)
    }

    /// A stage's request to pause is honoured in addition to the limit.
    @Test func aStageMayPauseReading() {
        struct Gate: Stage {
            mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
                switch event {
                case .bytes(let bytes, let direction):
                    [.emit(bytes, direction, at: now), .pause(direction), .wake(at: now + .milliseconds(5))]
                case .end(let ending, let direction): [.end(ending, direction)]
                case .wake: [.resume(.fromClient)]
                case .began, .release, .command: []
                }
            }
        }
        var chain = StageChain([Gate()])
        let outputs = chain.take(.bytes([1], .fromClient), at: time(0))
        #expect(outputs == [.write([1], .fromClient), .pause(.fromClient)] && chain.nextWake == time(5))
        #expect(chain.take(.wake, at: time(5)) == [.resume(.fromClient)])
    }

    @Test func whatOvertakesComesFirstButNeverAfterTheEnd() {
        struct Express: Stage {
            mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
                switch event {
                case .bytes(let bytes, let direction):
                    [.emit(bytes, direction, at: now + .milliseconds(Int64(bytes[0])), overtakes: true)]
                case .end(let ending, let direction): [.end(ending, direction)]
                case .began, .wake, .release, .command: []
                }
            }
        }
        var chain = StageChain([Express()])
        #expect(chain.take(.bytes([50], .fromClient), at: time(0)) == [])
        #expect(chain.take(.bytes([10], .fromClient), at: time(1)) == [])
        #expect(chain.take(.end(.fin, .fromClient), at: time(2)) == [])
        #expect(chain.take(.bytes([90], .fromClient), at: time(3)) == [])
        #expect(chain.take(.wake, at: time(11)) == [.write([10], .fromClient)])
        let rest = chain.take(.wake, at: time(200))
        #expect(rest == [.write([50], .fromClient), .write([90], .fromClient), .end(.fin, .fromClient)])
    }

    /// A stage that keeps bytes itself has to release them in time.
    @Test func whatAStageKeepsIsReleased() {
        struct Hoard: Stage {
            var kept: [UInt8] = []
            var heldBytes: PerDirection<Int> { PerDirection(fromClient: kept.count, fromServer: 0) }

            mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
                switch event {
                case .bytes(let bytes, _):
                    kept += bytes
                    return []
                case .release(let direction), .end(_, let direction):
                    defer { kept = [] }
                    let passed: [StageAction] = [.emit(kept, direction, at: now)]
                    if case .end(let ending, _) = event { return passed + [.end(ending, direction)] }
                    return passed
                case .began, .wake, .command: return []
                }
            }
        }
        var chain = StageChain([Hoard(), DelayStage(delay: .milliseconds(1))])
        #expect(chain.take(.bytes([1], .fromClient), at: time(0)) == [])
        #expect(chain.take(.bytes([2], .fromClient), at: time(30_000)) == [])
        #expect(chain.nextWake == time(60_000))
        #expect(chain.take(.wake, at: time(60_000)) == [.released(2, .fromClient)])
        #expect(chain.take(.wake, at: time(60_001)) == [.write([1, 2], .fromClient)])
        #expect(chain.take(.end(.fin, .fromClient), at: time(60_002)) == [.end(.fin, .fromClient)])
    }

    /// What a stage keeps of a direction that was reset is lost, reported once, and keeps nothing awake.
    @Test func whatAStageKeepsIsLostWithARST() {
        struct Hoard: Stage {
            var kept = 0
            var heldBytes: PerDirection<Int> { PerDirection(fromClient: kept, fromServer: 0) }

            mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
                if case .bytes(let bytes, _) = event { kept += bytes.count }
                return []
            }
        }
        var chain = StageChain([Hoard()])
        #expect(chain.take(.bytes([1, 2, 3], .fromClient), at: time(0)) == [])
        #expect(chain.take(.end(.reset, .fromClient), at: time(1)) == [])
        #expect(chain.take(.wake, at: time(10_001)) == [.discarded(3, .fromClient), .end(.reset, .fromClient)])
        #expect(chain.heldBytes(.fromClient) == 0 && chain.nextWake == nil)
        #expect(chain.take(.wake, at: time(90_000)) == [])
    }

    /// Any delays, any events, any waking: each direction is unchanged, and its end comes last.
    @Test func bytesKeepTheirOrderHoweverManyStagesThereAre() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<300 {
            var limits = StageChain.Limits()
            limits.bytes = Int.random(in: 1...200, using: &generator)
            let stages = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                DelayStage(delay: .milliseconds(.random(in: 0...40, using: &generator)))
            }
            let total = stages.reduce(Interval(nanoseconds: 0)) {
                Interval(nanoseconds: $0.nanoseconds + $1.delay.nanoseconds)
            }
            var chain = StageChain(stages, limits: limits)
            var (sent, received) = (
                PerDirection(fromClient: [UInt8](), fromServer: [UInt8]()),
                PerDirection(fromClient: [UInt8](), fromServer: [UInt8]())
            )
            var ended = PerDirection(fromClient: false, fromServer: false)
            var passed = PerDirection<Ending?>(fromClient: nil, fromServer: nil)
            var paused = PerDirection(fromClient: false, fromServer: false)
            func perform(_ outputs: [Output]) {
                for output in outputs {
                    switch output {
                    case .write(let bytes, let direction, _):
                        #expect(passed[direction] == nil, "seed \(seed), round \(round)")
                        received[direction] += bytes
                    case .end(let ending, let direction): passed[direction] = ending
                    case .pause(let direction), .resume(let direction):
                        #expect(paused[direction] == (output == .resume(direction)), "seed \(seed), round \(round)")
                        paused[direction] = output == .pause(direction)
                    case .released, .discarded, .cut, .report, .decided:
                        Issue.record("\(output), seed \(seed), round \(round)")
                    }
                }
            }
            var now = Int64(0)
            for _ in 0..<60 {
                now += Int64.random(in: 0...15, using: &generator)
                let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
                if ended[direction] || Int.random(in: 0..<4, using: &generator) == 0 {
                    perform(chain.take(.wake, at: time(now)))
                } else if Int.random(in: 0..<30, using: &generator) == 0 {
                    ended[direction] = true
                    let ending: Ending = Bool.random(using: &generator) ? .fin : .reset
                    perform(chain.take(.end(ending, direction), at: time(now)))
                } else {
                    let bytes = (0..<Int.random(in: 1...9, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }
                    sent[direction] += bytes
                    perform(chain.take(.bytes(bytes, direction), at: time(now)))
                }
                for direction in Direction.allCases {
                    let held = sent[direction].count - received[direction].count
                    #expect(chain.heldBytes(direction) == held, "seed \(seed), round \(round)")
                }
            }
            while let wake = chain.nextWake {
                #expect(wake <= time(now) + total, "seed \(seed), round \(round)")
                perform(chain.take(.wake, at: wake))
            }
            for direction in Direction.allCases {
                #expect(received[direction] == sent[direction], "seed \(seed), round \(round)")
                #expect((passed[direction] != nil) == ended[direction], "seed \(seed), round \(round)")
                #expect(!paused[direction], "seed \(seed), round \(round)")
            }
        }
    }
}
