import Analysis
import Framing
import Streams
import Trace

/// What has to be done for one direction of each connection of a format.
final class SidePlan {
    let format: Format
    let sharedRule: SharedRule
    let sieve: FrameSieve
    /// The analyses that are to see every frame, heartbeats, and frames whose body is not what it should be.
    let analysesOfAll: [any Analysis]
    let analysesOfHeartbeats: [any Analysis]
    let analysesOfFaults: [any Analysis]
    /// … requests and answers.
    let analysesOfPairs: [any Analysis]
    /// Whether what frames stand for may not be their bytes as they lie.
    let transforms: Bool
    /// Whether bodies are more than bytes.
    let hasBodies: Bool
    /// The secrets that follow other frames.
    let following: [Secret]
    /// Whether some frames are over when their sender pauses.
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
        hasBodies = !format.directions[direction].body.isPlain
        let interests = analyses.map { $0.interest(in: format) }
        func those(_ interest: FrameInterest) -> [any Analysis] {
            zip(analyses, interests).filter { $1.contains(interest) }.map(\.0)
        }
        analysesOfAll = those(.all)
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

    /// How many bytes of a body that is streamed are kept at least: what a body is shows in its first bytes. Those of sinks are four more, for
    /// a character that is cut there.
    private static let leastKept = 65_536
}
