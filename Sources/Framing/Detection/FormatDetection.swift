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

    /// Whether every frame's body must be what the format says: JSON that parses, a Protobuf message that does.
    public var needsValidBodies = false
    /// Whether the evidence speaks of the streams' first bytes: where those were not seen, the first bytes that were must do.
    public var isAtStart = false
    /// From how many frames that fulfil the condition on others may be among them, text; nil where none may.
    public var among: (frames: Int, evidence: String)?
    /// What is recognised where fewer frames than needed are all there is, whole, and nothing else fits; nil: nothing.
    public var alone: String?
    /// What is recognised where no more is there than the head of a frame that is not complete; nil: nothing. Then the condition
    /// may only ask for fields of the head.
    public var openHead: String?

    /// So much evidence outweighs bytes that are no frame: it is not ruled out by them, nor by having been picked up mid-stream.
    public static let outweighing = 80

    /// Evidence of medium strength from one frame.
    public init(evidence: String) {
        self.evidence = evidence
    }
}
