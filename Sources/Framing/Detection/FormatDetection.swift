import Expressions
import Streams

/// How a format is recognised by its bytes alone.
public struct FormatDetection: Sendable {
    /// What was recognised, for people.
    public var evidence: String
    /// How much it says, from 1 to 100: the strongest evidence wins.
    public var strength = 50
    /// How many frames must chain.
    public var frames = 1
    /// From how many frames on weaker formats have to wait until this one is ruled out; with 0 they wait from the start.
    public var blocksAfter = 0
    /// The only side that tells; nil for either.
    public var from: Direction?
    /// Whether both sides must fit.
    public var needsBoth = false
    /// What every frame must fulfil.
    public var condition: Expression?
    /// A field that may have only so many values.
    public var distinct: (field: String, most: Int)?

    /// Evidence of medium strength from one frame.
    public init(evidence: String) {
        self.evidence = evidence
    }
}
