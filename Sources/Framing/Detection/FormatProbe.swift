import Streams

/// Finds out whether one direction of a connection is of a format, by framing it on trial.
///
/// A stream whose first byte was seen must be frames from there on. One that was picked up mid-stream need not, but frames
/// chain somewhere in nearly any bytes, if they are many: so twice as many must follow one another, and most bytes must lie in
/// frames.
public struct FormatProbe {
    /// What a probe says at the moment.
    public struct Verdict: Sendable, Hashable {
        /// Whether the format fits: the heads of as many frames as needed are complete.
        public var fits = false
        /// Whether it does without a doubt, although the stream was picked up mid-stream, and whatever the other side sends.
        public var isSure = false
        /// Whether it would fit, if the stream ended here: all is frames, though they are fewer than needed.
        public var isAlone = false
        /// Whether there are as many frames as of a stream that is seen from its first byte on.
        public var hasEnough = false
        /// Whether there is no more than the head of a frame, which could be.
        public var isOpenHead = false
        /// Whether the format is ruled out: bytes that are no frame, or frames that are not as they should be.
        public var isRefuted = false
        /// Whether weaker formats have to wait for this one.
        public var blocks = false
        /// Whether the frames that tell lie among others.
        public var isAmongOthers = false
    }

    /// What it says of the stream so far.
    public private(set) var verdict = Verdict()

    private var framer: Framer
    private let direction: Direction
    private let format: DirectionFormat
    private let detection: FormatDetection
    /// Whether the stream's first byte was seen, or the evidence says where a stream may be picked up.
    private let isAligned: Bool
    /// How many frames have to follow one another.
    private let needed: Int
    private let frames = Frames()
    private let scratch = FramingScratch()

    /// A probe for one direction.
    ///
    /// - Parameter aligned: whether the stream's first byte was seen.
    public init(_ format: DirectionFormat, _ detection: FormatDetection, direction: Direction, aligned: Bool) {
        let isStrong = detection.strength >= FormatDetection.outweighing
        isAligned = aligned || detection.isAtStart
        framer = Framer(rule: format.rule, direction: direction, aligned: isAligned)
        self.format = format
        self.detection = detection
        self.direction = direction
        let more = detection.isAtStart ? detection.frames + 1 : max(2 * detection.frames, 3)
        needed = aligned || isStrong ? detection.frames : more
        toleratesOthers = isStrong
        verdict.blocks = detection.blocksAfter == 0
        frames.format = format
        frames.detection = detection
    }

    /// Whether bytes that are no frame rule nothing out.
    private let toleratesOthers: Bool
    /// The index of the frame whose head was looked at last.
    private var judgedHead: Int?

    /// About how much memory it holds.
    package var heldMemory: Int { framer.heldMemory }

    /// The next bytes of the stream.
    public mutating func receive(_ chunk: RawSpan) {
        framer.receive(chunk, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: frames)
        judge()
    }

    /// A gap in the stream.
    public mutating func missing(_ byteCount: Int) {
        framer.missing(byteCount, at: Timestamp(nanoseconds: 0), scratch: scratch, into: frames)
        judge()
    }

    /// The stream ended, or no more of it is looked at.
    public mutating func finish() {
        let hasOpenHead = openHead
        framer.finish(scratch: scratch, into: frames)
        judge()
        verdict.isOpenHead = (hasOpenHead || verdict.isOpenHead) && !verdict.isRefuted
    }

    private mutating func judge() {
        let hasOthers = framer.hasRun || frames.foreign > 0
        verdict.isAmongOthers = frames.others > 0
        if isAligned || toleratesOthers {
            if count >= needed {
                verdict.fits = true
            } else if needed == detection.frames, count + 1 == needed, !isDemanding {
                // The head is complete, or proves enough: the rest need not be waited for.
                if framer.shape != nil || framer.proof != nil { verdict.fits = true }
            }
        } else {
            // Frames in a row, and most of what was seen lies in them.
            let isMost = framer.counts.framed >= framer.counts.unframed
            verdict.fits = !framer.hasRun && frames.row >= needed && isMost
            verdict.isSure = frames.row >= 2 * needed && !hasOthers
        }
        verdict.isAlone = frames.count > 0 && !hasOthers && !frames.isRefuted
        verdict.hasEnough = frames.count >= detection.frames
        if frames.count >= detection.blocksAfter { verdict.blocks = true }
        if frames.isRefuted || (isAligned && hasOthers) || headIsRefuted() { verdict.isRefuted = true }
    }

    /// Whether the head of the frame under way does not fulfil the condition, where a head alone tells: a long frame need not be
    /// waited for. Each head is looked at once.
    private mutating func headIsRefuted() -> Bool {
        guard detection.openHead != nil, isAligned, judgedHead != framer.counts.frames, framer.openHead != nil else {
            return false
        }
        judgedHead = framer.counts.frames
        return !openHeadFulfilsCondition
    }

    /// How many frames tell.
    private var count: Int {
        guard let among = detection.among, frames.others > 0 else { return frames.count }
        return frames.count >= among.frames ? max(frames.count, needed) : 0
    }

    /// Whether a frame has to be whole to tell.
    private var isDemanding: Bool {
        detection.condition != nil || detection.distinct != nil || detection.needsValidBodies || detection.among != nil
    }

    /// Whether the frame under way has a head that fulfils the condition, and nothing is known against it.
    private var openHead: Bool {
        detection.openHead != nil && isAligned && !verdict.isRefuted && framer.openHead != nil
            && openHeadFulfilsCondition
    }

    private var openHeadFulfilsCondition: Bool {
        guard let head = framer.openHead, let condition = detection.condition else { return true }
        return FrameValues(info: FrameInfo(of: head.shape), direction: direction).fulfil(
            condition, content: head.bytes.span.bytes, shape: head.shape, format: format)
    }

    /// What the trial's frames say.
    private final class Frames: FrameReceiver {
        var format: DirectionFormat?
        var detection: FormatDetection?
        /// How many frames fulfil the condition.
        var count = 0
        /// How many of them follow one another up to here.
        var row = 0
        /// How many frames do not, where that is allowed.
        var others = 0
        /// Whether one did not, where it is not.
        var isRefuted = false
        /// How many bytes are no frame; the beginning of one that was cut short does not count.
        var foreign = 0
        private var values: Set<FieldValue> = []

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            guard !isRefuted, let format, let detection else { return }
            // Whether it fulfils what every frame has to, and the condition.
            let (isValid, fits) = format.withContent(of: bytes, frame.shape) { content, shape -> (Bool, Bool) in
                if detection.needsValidBodies, frame.missing == 0,
                    !format.decodeBody(of: content, shape).faults.isEmpty
                {
                    return (false, false)
                }
                if let condition = detection.condition,
                    !FrameValues(info: frame, direction: direction).fulfil(
                        condition, content: content, shape: shape, format: format)
                {
                    return (detection.among != nil && content.firstInvalidUTF8() == nil, false)
                }
                guard let distinct = detection.distinct else { return (true, true) }
                if let value = format.field(distinct.field, of: content, shape) { values.insert(value) }
                return (values.count <= distinct.most, values.count <= distinct.most)
            }
            if fits {
                count += 1
                row += 1
            } else if isValid {
                others += 1
            } else {
                (isRefuted, row) = (true, 0)
            }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {
            row = 0
            if run.reason != .incomplete { foreign += run.bytes.count }
        }

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}
