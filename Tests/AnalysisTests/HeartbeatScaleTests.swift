import Analysis
import Framing
import Streams
import Testing
import Trace

/// The cost of heartbeats on many connections.
@Suite struct HeartbeatScaleTests {
    /// A connection that sends no heartbeat costs nothing, beyond a fixed number that is tracked.
    @Test func connectionsWithoutHeartbeatsAreFoundAllTheSame() throws {
        var found: [[String]] = []
        for limit in [0, 10, 1_000] {
            var watching = try Watching(HeartbeatMonitor(mostExpected: limit))
            for number in 1...200 { watching.open(at: Int64(number), on: number) }
            for number in stride(from: 1, through: 200, by: 4) { try watching.heartbeat(at: 1_000, on: number) }
            for number in stride(from: 2, through: 200, by: 4) {
                try watching.heartbeat(at: 2 * Watching.gap, on: number)
            }
            watching.advance(to: 3 * Watching.gap)
            for number in 1...200 { watching.close(at: 4 * Watching.gap, on: number) }
            found.append(watching.found(.heartbeatNever).sorted())
        }
        #expect(found[0].count == 150 && found[0] == found[1] && found[0] == found[2])
    }

    /// Heartbeats of 10,000 connections: the memory does not grow with their number.
    @Test func memoryHangsOnConnectionsAndNotOnHeartbeats() throws {
        var watching = try Watching()
        var sizes: [Int] = []
        let rounds = 8
        for round in 0..<rounds {
            for number in 1...10_000 {
                try watching.heartbeat(at: Int64(round) * 1_000_000_000 + Int64(number) * 50_000, on: number)
            }
            sizes.append(watching.monitor.remembered)
        }
        #expect(watching.findings.isEmpty)
        #expect(sizes.allSatisfy { $0 == 20_000 }, "a watch and a deadline for each: \(sizes)")
        for number in 1...10_000 { watching.close(at: Int64(rounds) * 1_000_000_000 + 500_000_001, on: number) }
        watching.advance(to: 100_000_000_000)
        #expect(watching.monitor.remembered == 0)
    }
}
