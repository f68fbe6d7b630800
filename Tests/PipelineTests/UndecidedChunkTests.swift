import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Connections of which a few undecided bytes were seen are forgotten but for these; whatever follows is the same.
@Suite struct UndecidedChunkTests {
    /// `marker` ends frames by pauses, so that nothing of it is forgotten. A small limit evicts.
    @Test(
        arguments: RandomConnections.frames.keys.sorted(),
        [(isNamed: true, limit: 1 << 20), (true, 300), (false, 1 << 20), (false, 5_000)])
    func whatFollowsIsTheSame(_ name: String, _ options: (isNamed: Bool, limit: Int)) throws {
        for _ in 0..<(options.isNamed ? 40 : 10) {
            let seed = UInt64.random(in: 0...UInt64.max)
            func run(_ keepsUndecided: Bool) throws -> RandomConnections.Run {
                try RandomConnections.run(
                    name, isNamed: options.isNamed, limit: options.limit, seed: seed, keepsUndecided: keepsUndecided)
            }
            let (kept, forgotten) = (try run(false), try run(true))
            #expect(kept.lines == forgotten.lines, "seed \(seed)")
            #expect(kept.held == forgotten.held, "seed \(seed)")
        }
    }
}
