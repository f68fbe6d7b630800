import Streams

/// A rule with one copy shared by all streams that it frames.
///
/// Its methods are the rule's. A rule stored in an object as an existential is copied for each call; one whose type the object
/// knows is not.
package class SharedRule {
    let rule: any FramingRule
    let idle: Interval?
    let landmark: Landmark
    let firstBytes: ByteSet
    let secondBytes: ByteSet
    let hasOpening: Bool
    /// The byte strings that end every frame, and the length of the longest.
    let ends: [[UInt8]]
    let longestEnd: Int
    /// Whether a frame ends wherever one of them is.
    let endsAreCertain: Bool
    /// The last bytes of the landmark: until one of them comes, no place after it or at it is complete.
    let landmarkEnds: ByteSet
    /// The conversation whose frames it cuts, if they depend on each other.
    let conversation: Conversation?
    let follows: Bool
    /// How many bytes of a large body are kept; the rest is streamed.
    let keptBody: Int
    /// Frames of at most this many bytes are held whole.
    let streamedAbove: Int
    /// Whether the beginning of a frame may prove that it is one.
    let hasProof: Bool
    /// Whether the end of a whole frame may show that it is none.
    let checksEnds: Bool
    /// Whether checksums are evidence for frames.
    let hasChecksums: Bool
    /// A frame of more bytes than these is rejected whole if its end is wrong: to look for others inside it would take too long.
    private let longestSearched: Int
    /// How a number determines where its frames end, if nothing else does but constants.
    let lengths: PlainLengths?
    /// What was learned of the heads of its frames.
    fileprivate lazy var patterns = HeadPatterns()

    fileprivate init(
        _ rule: any FramingRule, keptBody: Int, streamedAbove: Int, _ conversation: Conversation?
    ) {
        self.rule = rule
        self.conversation = conversation
        follows = conversation != nil
        (self.keptBody, self.streamedAbove) = (keptBody, streamedAbove)
        idle = rule.idle
        lengths = conversation == nil && rule.idle == nil ? rule.plainLengths : nil
        landmark = rule.landmark
        firstBytes = rule.firstBytes
        secondBytes = rule.secondBytes
        hasOpening = rule.hasOpening
        hasProof = rule.hasProof
        checksEnds = rule.checksEnds
        hasChecksums = rule.hasChecksums
        // Of frames of one size, none is inside another.
        longestSearched = rule is FixedSize ? FrameChain.window : FrameChain.openingWindow
        ends = landmark.ends
        if case .after(_, isCertain: true) = landmark { endsAreCertain = true } else { endsAreCertain = false }
        longestEnd = ends.map(\.count).max() ?? 1
        var landmarkEnds = ByteSet()
        if case .at(let mark, _) = landmark, let last = mark.last { landmarkEnds.insert(last) }
        for last in ends.compactMap(\.last) { landmarkEnds.insert(last) }
        self.landmarkEnds = landmarkEnds
    }

    /// A rule to be shared.
    ///
    /// - Parameters:
    ///   - keptBody: how many bytes of a large body are kept; without it all of them.
    ///   - streamedAbove: frames of more bytes than these are large.
    ///   - conversation: the conversation whose frames it cuts, if they depend on each other.
    package static func of(
        _ rule: some FramingRule, keptBody: Int = .max, streamedAbove: Int = 1 << 20,
        conversation: Conversation? = nil
    ) -> SharedRule {
        TypedRule(rule, keptBody: keptBody, streamedAbove: streamedAbove, conversation)
    }

    /// The same rule as part of a conversation.
    package func bound(to conversation: Conversation, _ direction: Direction) -> SharedRule {
        let bound: any FramingRule = rule.bound(to: conversation, direction) ?? rule
        return SharedRule.of(
            bound, keptBody: keptBody, streamedAbove: streamedAbove,
            conversation: conversation)
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        rule.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
    }

    func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, into items: inout [FrameItem]
    ) -> FrameRun {
        rule.frames(in: bytes, from: start, origin: origin, memory: &memory, patterns, into: &items)
    }

    func endFault(of frame: RawSpan, _ shape: FrameShape) -> String? { rule.endFault(of: frame, shape) }

    /// What is wrong with the end of a whole frame that starts at a stream offset; nil: nothing.
    func badEnd(of frame: RawSpan, _ shape: FrameShape, at offset: Int) -> BadBytes? {
        guard let fault = endFault(of: frame, shape) else { return nil }
        return BadBytes(
            .badHead, "\(fault) (end of the frame at offset \(offset))",
            byteCount: shape.total > longestSearched ? shape.total : nil)
    }

    /// The first place at or after an index that may start a frame, as far as a quick check can tell.
    ///
    /// - Parameter needed: the evidence that a head needs there; nil: that is not known.
    func firstHopeful(_ bytes: RawSpan, from start: Int, needed: NeededEvidence? = nil) -> Int? {
        start < bytes.byteCount ? start : nil
    }

    func mayStart(_ bytes: RawSpan, at start: Int) -> Bool { rule.mayStart(bytes, at: start) }
}

private final class TypedRule<Rule: FramingRule>: SharedRule {
    private let typed: Rule

    init(_ rule: Rule, keptBody: Int, streamedAbove: Int, _ conversation: Conversation?) {
        typed = rule
        super.init(rule, keptBody: keptBody, streamedAbove: streamedAbove, conversation)
    }

    package override func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        typed.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
    }

    override func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, into items: inout [FrameItem]
    ) -> FrameRun {
        // A conversation must learn of each frame before the next one is found.
        if follows { return FrameRun(end: start) }
        return typed.frames(in: bytes, from: start, origin: origin, memory: &memory, patterns, into: &items)
    }

    override func endFault(of frame: RawSpan, _ shape: FrameShape) -> String? { typed.endFault(of: frame, shape) }

    override func mayStart(_ bytes: RawSpan, at start: Int) -> Bool { typed.mayStart(bytes, at: start) }

    override func firstHopeful(_ bytes: RawSpan, from start: Int, needed: NeededEvidence?) -> Int? {
        typed.firstHopeful(bytes, from: start, firstBytes, secondBytes, needed: needed)
    }
}
