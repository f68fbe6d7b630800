import Expressions
import Streams

/// How a format is recognised by its bytes alone.
package struct FormatDetection: Sendable {
    /// Human-readable: what was recognised.
    package var evidence: String
    /// Its weight, from 1 to 100: the strongest evidence wins.
    package var strength = 50
    /// How many frames must chain.
    package var frames = 1
    /// From how many frames on weaker formats must wait until this one is ruled out; with 0 they wait from the start.
    package var blocksAfter = 0
    /// The only side that is evaluated; nil for either.
    package var from: Direction?
    /// Whether both sides must fit.
    package var needsBoth = false
    /// The condition that every frame must fulfil.
    package var condition: Expression?
    /// A field that may have only a limited number of distinct values.
    package var distinct: (field: String, most: Int)?

    /// Whether every frame's body must be valid in the format's encoding: JSON or a Protobuf message that parses.
    package var needsValidBodies = false
    /// Whether the evidence concerns the streams' first bytes: if those were not seen, the first bytes seen are used instead.
    package var isAtStart = false
    /// From how many matching frames on other frames, such as text, may be among them; nil if none may.
    package var among: (frames: Int, evidence: String)?
    /// What is recognised if the stream consists of fewer whole frames than needed, and nothing else fits; nil: nothing.
    package var alone: String?
    /// What is recognised if there is only the head of an incomplete frame; nil: nothing. Then the condition may refer only to
    /// fields of the head.
    package var openHead: String?

    /// A protocol that is otherwise recognised by its first bytes and not framed, which this format frames; nil: none.
    package var replaces: String?

    /// The values of parameters with which the format is tried as well; empty: only as it is.
    package var alsoWith: [String: String] = [:]

    /// Evidence this strong outweighs bytes that belong to no frame: neither they nor a mid-stream pickup rule it out.
    package static let outweighing = 80

    /// Evidence of medium strength from one frame.
    package init(evidence: String) {
        self.evidence = evidence
    }
}
