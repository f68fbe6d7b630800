import Analysis
import Framing
import Streams
import Trace

/// The work to do for one direction of each connection of a format.
final class SidePlan {
    let format: Format
    let sharedRule: SharedRule
    let sieve: FrameSieve
    /// The analyses that need to see every frame, heartbeats, and frames with a faulty body.
    let analysesOfAll: [any Analysis]
    /// Whether there is one that needs to see every frame.
    let analysesSeeAll: Bool
    let analysesOfHeartbeats: [any Analysis]
    let analysesOfFaults: [any Analysis]
    /// … requests and answers.
    let analysesOfPairs: [any Analysis]
    /// Whether a frame's content may differ from its raw bytes.
    let transforms: Bool
    /// Whether bodies are decoded to more than bytes.
    let hasBodies: Bool
    /// The secrets that follow other frames.
    let following: [Secret]
    /// Whether some frames end when their sender pauses.
    let endsFramesByPauses: Bool

    init(
        _ format: Format, _ kinds: FrameKinds, _ direction: Direction, _ analyses: [any Analysis],
        _ frameSinks: [any TraceSink], endsFramesByPauses: Bool
    ) {
        self.format = format
        self.endsFramesByPauses = endsFramesByPauses
        let rule = format.directions[direction].rule
        transforms = rule.transforms
        following = format.secrets.filter { $0.after != nil }
        hasBodies = !format.directions[direction].hasPlainBodies
        let interests = analyses.map { $0.interest(in: format) }
        func those(_ interest: FrameInterest) -> [any Analysis] {
            zip(analyses, interests).filter { $1.contains(interest) }.map(\.0)
        }
        analysesOfAll = those(.all)
        analysesSeeAll = !analysesOfAll.isEmpty
        analysesOfHeartbeats = those(.heartbeats)
        analysesOfFaults = those(.faultyBodies)
        analysesOfPairs = those(.paired)
        var wanted = FrameInterest()
        if !frameSinks.isEmpty || !analysesOfAll.isEmpty { wanted.insert(.all) }
        if !analysesOfHeartbeats.isEmpty { wanted.insert(.heartbeats) }
        if !analysesOfFaults.isEmpty { wanted.insert(.faultyBodies) }
        if !analysesOfPairs.isEmpty { wanted.insert(.paired) }
        sieve = FrameSieve(kinds, format, wanted: wanted)
        let looksIntoBodies = !analysesOfAll.isEmpty || !format.streamsBodies(from: direction)
        let bodyLimit = frameSinks.map(\.bodyLimit).max() ?? 0
        sharedRule = SharedRule.of(
            rule, keptBody: looksIntoBodies || bodyLimit > Int.max / 2 ? .max : max(bodyLimit + 4, Self.leastKept))
    }

    /// The minimum number of bytes kept of a streamed body: its type shows in its first bytes. For sinks, four more are kept, for
    /// a character that is split there.
    private static let leastKept = 65_536
}
