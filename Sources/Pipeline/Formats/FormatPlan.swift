import Analysis
import Framing
import Streams
import Trace

/// The work to do for each connection of a format: computed once.
final class FormatPlan {
    let format: Format
    /// The format, and the state that its connections share.
    let known: KnownFormat
    let sides: PerDirection<SidePlan>
    /// Whether frames depend on others, so that each connection has a `Conversation`.
    let hasConversation: Bool

    /// A plan.
    ///
    /// - Parameters:
    ///   - output: receives its frames.
    ///   - isFramed: whether there are any frames.
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
        hasConversation = Conversation(format, aligned: true) != nil
        sides = PerDirection(fromClient: side(.fromClient), fromServer: side(.fromServer))
    }
}
