import Analysis
import Framing
import Streams
import TestSupport
import Testing
import Trace

@Suite struct HeartbeatMonitorTests {
    let gap = Watching.gap

    @Test func theDeadlineItselfIsNoGapAndOneNanosecondLaterIsOne() throws {
        for (late, expected) in [(Int64(0), [String]()), (1, ["#1 at \(5 + gap)"])] {
            var heartbeat = try Watching()
            try heartbeat.heartbeat(at: 5)
            try heartbeat.heartbeat(at: 5 + gap + late)
            #expect(heartbeat.found == expected, "told by the next heartbeat")
            var time = try Watching()
            try time.heartbeat(at: 5)
            time.advance(to: 5 + gap + late)
            #expect(time.found == expected, "told by time")
            var close = try Watching()
            try close.heartbeat(at: 5)
            close.close(at: 5 + gap + late, passing: false)
            #expect(close.found == expected, "told by the end")
            var finish = try Watching()
            try finish.heartbeat(at: 5)
            finish.finish(.fromClient, at: 5 + gap + late, passing: false)
            #expect(finish.found == expected, "told by the FIN")
        }
    }

    @Test func aGapIsReportedOnceAndSaysWhatWasSeen() throws {
        var watching = try Watching()
        try watching.heartbeat(at: 0)
        try watching.frame("txt", at: 10)
        try watching.heartbeat(at: 100)
        for time in stride(from: gap, to: 20 * gap, by: Int(gap / 3)) { watching.advance(to: time) }
        watching.close(at: 30 * gap)
        #expect(watching.found == ["#1 at \(100 + gap)"])
        let finding = try #require(watching.findings.first { $0.kind == .heartbeatGap })
        #expect(finding.kind == .heartbeatGap && finding.severity == .warning)
        #expect(finding.from == .fromClient && finding.format == "im-json")
        #expect(finding.message == "heartbeat gap: 3.0 s since heartA, expected every 1 s")
        #expect(
            finding.data == [
                Field("expectedEvery", .number(1)), Field("silentFor", .number(3)), Field("lastType", .text("heartA")),
                Field("lastIndex", .integer(2)),
            ])
    }

    @Test func theNextHeartbeatEndsItAndTheNextSilenceIsAnother() throws {
        var watching = try Watching()
        try watching.heartbeat(at: 0)
        try watching.heartbeat(at: 2 * gap)
        try watching.heartbeat(at: 2 * gap + 1)
        watching.advance(to: 5 * gap)
        try watching.heartbeat(at: 6 * gap)
        watching.close(at: 6 * gap + gap)
        #expect(watching.found == ["#1 at \(gap)", "#1 at \(3 * gap + 1)"])
    }

    @Test func otherFramesAndTheOtherSidesHeartbeatsDoNotCount() throws {
        var watching = try Watching()
        watching.advance(to: 100 * gap)
        try watching.frame("txt", at: 100 * gap)
        watching.advance(to: 110 * gap)
        try watching.frame("heartS", at: 110 * gap, from: .fromServer)
        watching.advance(to: 120 * gap)
        #expect(watching.found == [], "nothing is waited for before the first heartbeat of the client")
        #expect(watching.monitor.nextDeadline == nil)
        try watching.heartbeat(at: 120 * gap)
        try watching.frame("txt", at: 121 * gap - 1)
        try watching.frame("heartS", at: 121 * gap - 1, from: .fromServer)
        watching.advance(to: 122 * gap)
        #expect(watching.found == ["#1 at \(121 * gap)"])
    }

    @Test func afterTheFINThereIsNoGap() throws {
        var ended = try Watching()
        try ended.heartbeat(at: 0)
        ended.finish(.fromClient, at: gap)
        ended.advance(to: 9 * gap)
        ended.close(at: 10 * gap)
        #expect(ended.found == [])
        var open = try Watching()
        try open.heartbeat(at: 0)
        open.finish(.fromServer, at: 1)
        open.close(at: 10 * gap)
        #expect(open.found == ["#1 at \(gap)"], "the client goes on, and so does its duty")
        var late = try Watching()
        try late.heartbeat(at: 0)
        late.finish(.fromClient, at: gap + 1)
        #expect(late.found == ["#1 at \(gap)"], "the gap came before the end")
    }

    /// The other side's events before the deadline may be known later than the sender's, or earlier.
    @Test func noFirstHeartbeatIsDueWhereTheOtherSideClosedInTime() throws {
        for (end, expected) in [(gap, [String]()), (gap + 1, ["#1 at \(gap)"])] {
            var late = try Watching()
            late.open(at: 0, on: 1)
            late.settle(at: 2 * gap, otherKnown: gap)
            #expect(late.found(.heartbeatNever) == [], "the server is not known up to the deadline")
            late.finish(.fromClient, at: 2 * gap, passing: false)
            late.settle(at: 2 * gap, otherKnown: end)
            late.finish(.fromServer, at: end, passing: false)
            late.close(at: 2 * gap, passing: false)
            #expect(late.found(.heartbeatNever) == expected)
            var early = try Watching()
            early.open(at: 0, on: 1)
            early.finish(.fromServer, at: end)
            early.finish(.fromClient, at: 2 * gap)
            early.close(at: 2 * gap)
            #expect(early.found(.heartbeatNever) == expected)
        }
        var open = try Watching()
        open.open(at: 0, on: 1)
        open.settle(at: 2 * gap, otherKnown: 1)
        #expect(open.found(.heartbeatNever) == [])
        open.advance(to: 3 * gap)
        #expect(open.found(.heartbeatNever) == ["#1 at \(gap)"], "time passes once both sides are known")
    }

    @Test func manyConnectionsAreReportedInTheOrderOfTheirDeadlines() throws {
        var watching = try Watching()
        let starts = (1...50).map { (number: $0, time: Int64($0 * 7_919 % 50 * 1_000)) }
        for (number, time) in starts.sorted(by: { $0.time < $1.time }) { try watching.heartbeat(at: time, on: number) }
        watching.advance(to: 2 * gap)
        let expected = starts.sorted { ($0.time, $0.number) < ($1.time, $1.number) }
        #expect(watching.found == expected.map { "#\($0.number) at \($0.time + gap)" })
    }

    @Test func howOftenSomebodyLooksDoesNotMatter() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        for round in UInt64(0)..<200 {
            await Task.yield()
            let rare = try play(seed &+ round, lookEvery: nil)
            let often = try play(seed &+ round, lookEvery: gap / 7)
            #expect(Set(rare) == Set(often) && rare.count == often.count, "seed \(seed &+ round)")
            #expect(Set(rare).count == rare.count, "a gap is told once, seed \(seed &+ round)")
        }
    }

    /// Heartbeats of a few connections at random times; `lookEvery` lets time pass in small steps between them.
    private func play(_ seed: UInt64, lookEvery step: Int64?) throws -> [Finding] {
        var generator = SeededGenerator(seed: seed)
        var watching = try Watching()
        var now: Int64 = 0
        var open: Set<Int> = [1, 2, 3]
        var finished: Set<Int> = []
        for _ in 0..<40 {
            let next = now + Int64.random(in: 0...gap, using: &generator)
            if let step { for time in stride(from: now, through: next, by: Int(step)) { watching.advance(to: time) } }
            now = next
            let number = Int.random(in: 1...3, using: &generator)
            guard open.contains(number) else { continue }
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                watching.finish(.fromClient, at: now, on: number)
                open.remove(number)
                finished.insert(number)
            case 1:
                watching.close(at: now, on: number)
                open.remove(number)
            default: try watching.heartbeat(at: now, on: number)
            }
        }
        for number in open.union(finished).sorted() { watching.close(at: now + 2 * gap, on: number) }
        return watching.findings
    }
}
