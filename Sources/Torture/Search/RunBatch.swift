import Framing
import NIOCore
import Replay
import Streams

/// A run, and what is wrong with it.
struct Trial: Sendable {
    var outcome: Outcome
    /// Nil: nothing.
    var symptom: String?
}

/// Plays variations of a conversation with a server, several at a time.
struct RunBatch: Sendable {
    var script: Script
    let builder: FrameBuilder
    let format: Format
    let server: SocketAddress
    var patience = Interval.seconds(2)
    var lingering = Interval.milliseconds(20)
    /// Whether the server closes after each client; nil: not known yet.
    var closes: [Bool]?
    var parallel = 1

    /// Plays one variation.
    func play(_ variation: Variation = Variation()) async throws -> Outcome {
        let play = Play(script, variation, builder, patience: patience, lingering: lingering, closes: closes)
        return try await PlayDriver.run(play, format, to: server)
    }

    /// Plays them all, and judges each.
    ///
    /// - Returns: the results, in order; if the task is cancelled, those that there were by then.
    func play(_ variations: [Variation], _ judge: Judge) async throws -> [Trial] {
        try await withThrowingTaskGroup(of: (Int, Outcome, String?).self) { group in
            var results: [Trial?] = Array(repeating: nil, count: variations.count)
            var next = 0
            func add() {
                guard next < variations.count else { return }
                let place = next
                next += 1
                group.addTask {
                    let outcome = try await play(variations[place])
                    return (place, outcome, judge.symptom(of: outcome))
                }
            }
            for _ in 0..<max(1, parallel) { add() }
            do {
                while let (place, outcome, symptom) = try await group.next() {
                    results[place] = Trial(outcome: outcome, symptom: symptom)
                    add()
                }
            } catch is CancellationError {
                // Whoever asked for this pairs it with the variations.
                return results.prefix { $0 != nil }.compactMap { $0 }
            }
            return results.compactMap { $0 }
        }
    }
}
