import Analysis
import Framing
import Streams
import Trace

/// What has to be done for each connection of a format: made once.
final class FormatPlan {
    let format: Format
    /// The format, and what its connections share.
    let known: KnownFormat
    let sieves: PerDirection<FrameSieve>
    /// The analyses that are to see every frame, heartbeats, and frames whose body is not what it should be.
    let analysesOfAll: [any Analysis]
    let analysesOfHeartbeats: [any Analysis]
    let analysesOfFaults: [any Analysis]
    /// … requests and answers.
    let analysesOfPairs: [any Analysis]
    let rules: PerDirection<any FramingRule>
    /// Whether what frames of a side stand for may not be their bytes as they lie.
    let transforms: PerDirection<Bool>
    /// Whether some frames are over when their sender pauses.
    let endsFramesByPauses: Bool

    init(_ format: Format, _ analyses: [any Analysis], sinksTakeFrames: Bool) {
        self.format = format
        rules = PerDirection(
            fromClient: format.directions.fromClient.rule, fromServer: format.directions.fromServer.rule)
        transforms = PerDirection(
            fromClient: rules.fromClient.transforms, fromServer: rules.fromServer.transforms)
        endsFramesByPauses = rules.fromClient.idle != nil || rules.fromServer.idle != nil
        let interests = analyses.map { $0.interest(in: format) }
        func those(_ interest: FrameInterest) -> [any Analysis] {
            zip(analyses, interests).filter { $1.contains(interest) }.map(\.0)
        }
        analysesOfAll = those(.all)
        analysesOfHeartbeats = those(.heartbeats)
        analysesOfFaults = those(.faultyBodies)
        analysesOfPairs = those(.paired)
        var wanted = FrameInterest()
        if sinksTakeFrames || !analysesOfAll.isEmpty { wanted.insert(.all) }
        if !analysesOfHeartbeats.isEmpty { wanted.insert(.heartbeats) }
        if !analysesOfFaults.isEmpty { wanted.insert(.faultyBodies) }
        if !analysesOfPairs.isEmpty { wanted.insert(.paired) }
        known = KnownFormat(format)
        sieves = PerDirection(
            fromClient: FrameSieve(known.kinds.fromClient, format, wanted: wanted),
            fromServer: FrameSieve(known.kinds.fromServer, format, wanted: wanted))
    }
}
