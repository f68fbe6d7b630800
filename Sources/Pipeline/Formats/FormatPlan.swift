import Analysis
import Framing
import Streams
import Trace

/// What has to be done for each connection of a format: made once.
final class FormatPlan {
    let format: Format
    /// The format, and what its connections share.
    let known: KnownFormat
    let sides: PerDirection<SidePlan>

    /// A plan.
    ///
    /// - Parameters:
    ///   - output: whom its frames are shown to.
    ///   - isFramed: whether there are frames at all.
    init(_ format: Format, _ output: TraceOutput, isFramed: Bool = true) {
        self.format = format
        let analyses = isFramed ? output.analyses : []
        let frameSinks = isFramed ? output.frameSinks : []
        let known = KnownFormat(format)
        let endsFramesByPauses = Direction.allCases.contains { format.directions[$0].rule.idle != nil }
        func side(_ direction: Direction) -> SidePlan {
            SidePlan(
                format, known.kinds[direction], direction, analyses, frameSinks,
                endsFramesByPauses: endsFramesByPauses)
        }
        self.known = known
        sides = PerDirection(fromClient: side(.fromClient), fromServer: side(.fromServer))
    }
}
