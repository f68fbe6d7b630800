import Expressions
import Streams

/// How a format is recognised by its bytes alone.
public struct FormatDetection: Sendable {
    /// Human-readable: what was recognised.
    public var evidence: String
    /// Its weight, from 1 to 100: the strongest evidence wins.
    public var strength = 50
    /// How many frames must chain.
    public var frames = 1
    /// From how many frames on weaker formats must wait until this one is ruled out; with 0 they wait from the start.
    public var blocksAfter = 0
    /// The only side that is evaluated; nil for either.
    public var from: Direction?
    /// Whether both sides must fit.
    public var needsBoth = false
    /// The condition that every frame must fulfil.
    public var condition: Expression?
    /// A field that may have only a limited number of distinct values.
    public var distinct: (field: String, most: Int)?

    /// Whether every frame's body must be valid in the format's encoding: JSON or a Protobuf message that parses.
    public var needsValidBodies = false
    /// Whether the evidence concerns the streams' first bytes: if those were not seen, the first bytes seen are used instead.
    public var isAtStart = false
    /// From how many matching frames on other frames, such as text, may be among them; nil if none may.
    public var among: (frames: Int, evidence: String)?
    /// What is recognised if the stream consists of fewer whole frames than needed, and nothing else fits; nil: nothing.
    public var alone: String?
    /// What is recognised if there is only the head of an incomplete frame; nil: nothing. Then the condition may refer only to
    /// fields of the head.
    public var openHead: String?

    /// A protocol that is otherwise recognised by its first bytes and not framed, which this format frames; nil: none.
    public var replaces: String?

    /// Evidence this strong outweighs bytes that belong to no frame: neither they nor a mid-stream pickup rule it out.
    public static let outweighing = 80

    /// Evidence of medium strength from one frame.
    public init(evidence: String) {
        self.evidence = evidence
    }
}
