import Streams

/// Determines whether one direction of a connection has a format, by framing it on trial.
///
/// A stream whose first byte was seen must consist of frames from there on. One picked up mid-stream need not, but in enough
/// bytes of any kind frames chain somewhere: so twice as many must follow one another, and most bytes must lie in frames. After a gap
/// a stream is like one picked up mid-stream.
package final class FormatProbe {
    /// A probe's current result.
    package struct Verdict: Sendable, Equatable {
        /// Whether the format fits: the heads of as many frames as needed are complete.
        package var fits = false
        /// Whether it fits without doubt, even if the stream was picked up mid-stream, and whatever the other side sends.
        package var isSure = false
        /// Whether it would fit if the stream ended here: all bytes are frames, though fewer than needed.
        package var isAlone = false
        /// Whether the stream is over, and is alone without the beginning of another frame, and without a gap.
        package var isWhole = false
        /// Whether there are as many frames as needed of a stream seen from its first byte on.
        package var hasEnough = false
        /// Whether there is only the head of a frame, which could fit.
        package var isOpenHead = false
        /// Whether the format is ruled out: by bytes that belong to no frame, or by frames that do not meet the requirements.
        package var isRefuted = false
        /// Whether weaker formats must wait for this one.
        package var blocks = false
        /// Whether the matching frames are among others.
        package var isAmongOthers = false

        /// Whether both say the same. Written out and inlined: it is asked for at every step of every trial.
        @inlinable @inline(__always)
        package static func == (left: Verdict, right: Verdict) -> Bool {
            left.fits == right.fits && left.isSure == right.isSure && left.isAlone == right.isAlone
                && left.isWhole == right.isWhole && left.hasEnough == right.hasEnough
                && left.isOpenHead == right.isOpenHead
                && left.isRefuted == right.isRefuted && left.blocks == right.blocks
                && left.isAmongOthers == right.isAmongOthers
        }
    }

    /// The verdict on the stream so far.
    @exclusivity(unchecked) package private(set) var verdict = Verdict()

    // Nothing that the framer calls re-enters the probe.
    @exclusivity(unchecked) private var framer: Framer
    private let direction: Direction
    private let trial: TrialSide
    private var detection: FormatDetection { trial.detection }
    /// Whether the stream's first byte was seen, or the evidence determines where a stream may be picked up.
    private var isAligned: Bool
    /// How many frames must follow one another.
    private var needed: Int
    /// Whether it fitted before a gap.
    private var fittedBefore = false
    private let frames: Frames
    private var scratch: FramingScratch { trial.scratch }

    /// A probe for one direction.
    ///
    /// - Parameter aligned: whether the stream's first byte was seen.
    package convenience init(
        _ format: DirectionFormat, _ detection: FormatDetection, direction: Direction, aligned: Bool
    ) {
        self.init(TrialSide(format, detection), SharedRule.of(format.rule), direction: direction, aligned: aligned)
    }

    /// A probe for one direction, whose rule may be part of a conversation.
    ///
    /// - Parameter upgrade: receives the frames, one of which may request TLS; nil if the format has no upgrade.
    package init(
        _ trial: TrialSide, _ rule: SharedRule, direction: Direction, aligned: Bool, upgrade: TLSUpgradeWatch? = nil
    ) {
        isAligned = aligned || trial.isAtStart
        framer = Framer(rule, direction: direction, aligned: isAligned, explains: false)
        self.trial = trial
        self.direction = direction
        needed = aligned ? trial.frames : trial.neededMidStream
        toleratesOthers = trial.isStrong
        frames = Frames(trial, upgrade)
        frames.mayBeFalse = !isAligned
        verdict = trial.initialVerdict
    }

    /// Whether bytes that belong to no frame are tolerated.
    private let toleratesOthers: Bool
    /// The index of the frame whose head was checked last.
    private var judgedHead: Int?

    /// Approximately how much memory it holds.
    package var heldMemory: Int { framer.heldMemory }

    /// How many frames that fulfil the condition follow one another up to this point.
    package var row: Int { frames.row }

    /// Whether no frame was found yet, and none has begun as far as known.
    package var hasFoundNothing: Bool { framer.hasFoundNothing }

    /// Whether it fits a stream picked up mid-stream without the other side's word: many frames followed one another.
    package var fitsForLong: Bool { verdict.fits && frames.row >= Self.long * needed }

    /// How many times as many frames as needed in a row are evidence enough, whatever bytes were before them.
    private static let long = 16

    /// The next bytes of the stream.
    package func receive(_ chunk: RawSpan) {
        framer.receive(chunk, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: frames)
        judge()
    }

    /// How many of the next bytes may be passed at once so that the verdict changes with the last of them, if it does; at least 1.
    package func steady(_ next: RawSpan) -> Int {
        if verdict.isRefuted, !toleratesOthers { return .max }
        // Any byte may complete the proof that a frame begins.
        if !isDemanding, isAligned || toleratesOthers, framer.shared.hasProof, framer.isAligned, framer.shape == nil {
            return 1
        }
        return framer.steady(next)
    }

    /// A gap in the stream.
    package func missing(_ byteCount: Int) {
        fittedBefore = fittedBefore || verdict.fits
        // Where the next frame begins is searched for, and may be found in the wrong place.
        if !trial.isAtStart { (isAligned, needed, frames.mayBeFalse) = (false, trial.neededMidStream, true) }
        framer.missing(byteCount, at: Timestamp(nanoseconds: 0), scratch: scratch, into: frames)
        judge()
    }

    /// The stream ended, or no more of it is examined.
    package func finish() {
        let hasOpenHead = openHead
        framer.finish(scratch: scratch, into: frames)
        judge()
        verdict.isWhole = verdict.isAlone && framer.counts.unframed == 0 && framer.counts.missing == 0
        verdict.isOpenHead = (hasOpenHead || verdict.isOpenHead) && !verdict.isRefuted
    }

    private func judge() {
        let hasOthers = framer.hasRun || frames.foreign > 0
        verdict.isAmongOthers = frames.others > 0
        if isAligned || toleratesOthers {
            if count >= needed {
                verdict.fits = true
            } else if needed == trial.frames, count + 1 == needed, !isDemanding {
                // The head is complete, or proof enough: no need to wait for the rest.
                if framer.shape != nil || framer.proof != nil { verdict.fits = true }
            }
        } else {
            // Frames in a row, which contain most of the bytes seen.
            let isMost = framer.counts.framed >= framer.counts.unframed
            verdict.fits = fittedBefore || !framer.hasRun && frames.row >= needed && isMost
            verdict.isSure = frames.row >= 2 * needed && !hasOthers && !frames.hasFalse
        }
        verdict.isAlone = frames.count > 0 && !hasOthers && !frames.isRefuted && !frames.hasFalse
        verdict.hasEnough = frames.count >= trial.frames
        if frames.count >= trial.blocksAfter { verdict.blocks = true }
        if frames.isRefuted || (isAligned && hasOthers) || headIsRefuted() { verdict.isRefuted = true }
    }

    /// Whether the head of the frame in progress does not fulfil the condition, if the head alone decides: there is no need to
    /// wait for a long frame. Each head is checked once.
    private func headIsRefuted() -> Bool {
        guard trial.hasOpenHead, isAligned, judgedHead != framer.counts.frames, framer.openHead != nil else {
            return false
        }
        judgedHead = framer.counts.frames
        return !openHeadFulfilsCondition
    }

    /// How many frames count.
    private var count: Int {
        guard frames.others > 0, let among = detection.among else { return frames.count }
        return frames.count >= among.frames ? max(frames.count, needed) : 0
    }

    /// Whether a frame must be whole to count.
    private var isDemanding: Bool { trial.isDemanding }

    /// Whether the frame in progress has a head that fulfils the condition, and nothing contradicts it.
    private var openHead: Bool {
        trial.hasOpenHead && isAligned && !verdict.isRefuted && framer.openHead != nil
            && openHeadFulfilsCondition
    }

    private var openHeadFulfilsCondition: Bool {
        guard let head = framer.openHead, let condition = detection.condition else { return true }
        return FrameValues(info: FrameInfo(of: head.shape), direction: direction).fulfil(
            condition, content: head.bytes.span.bytes, shape: head.shape, format: trial.format)
    }

    /// Evaluates the trial's frames.
    private final class Frames: FrameReceiver {
        private let trial: TrialSide
        /// How many frames fulfil the condition.
        var count = 0
        /// How many of them follow one another up to this point.
        var row = 0
        /// How many frames do not, if that is allowed.
        var others = 0
        /// Whether one did not, although that is not allowed.
        var isRefuted = false
        /// Whether the next frame is the first one after the stream was picked up, or after a gap: within another frame, a search may find
        /// a false one that the right ones follow.
        var mayBeFalse = false
        /// Whether such a frame was passed over.
        private(set) var hasFalse = false
        /// How many bytes belong to no frame; the beginning of a truncated one and the rest of one after a gap do not count.
        var foreign = 0
        private var values: Set<FieldValue> = []
        private let upgrade: TLSUpgradeWatch?

        init(_ trial: TrialSide, _ upgrade: TLSUpgradeWatch?) { (self.trial, self.upgrade) = (trial, upgrade) }

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            if let upgrade {
                // What follows is no evidence, however it is cut.
                if upgrade.isAgreed { return }
                trial.format.withContent(of: bytes, frame.partsAtHand) { content, shape in
                    upgrade.take(frame, content: content, shape: shape, from: direction, trial.format)
                }
            }
            guard !isRefuted else { return }
            let (format, detection) = (trial.format, trial.detection)
            // Whether it meets the requirements for every frame, and the condition.
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
            defer { mayBeFalse = false }
            if fits {
                count += 1
                row += 1
            } else if isValid {
                others += 1
            } else if mayBeFalse {
                (hasFalse, row) = (true, 0)
            } else {
                (isRefuted, row) = (true, 0)
            }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {
            if upgrade?.isAgreed == true { return }
            row = 0
            if run.reason != .incomplete, run.reason != .afterGap { foreign += run.byteCount }
        }

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}

/// What all trials of a direction of a format have in common. A class: nothing of it is copied for a connection.
package final class TrialSide {
    let format: DirectionFormat
    let detection: FormatDetection
    // What is asked for every byte.
    let isStrong: Bool
    let isAtStart: Bool
    /// Whether the evidence concerns the streams' first bytes, or those that were seen first.
    package var startsStreams: Bool { isAtStart }
    let isDemanding: Bool
    let hasOpenHead: Bool
    /// How many frames must follow one another if a stream is seen from its first byte on.
    package let frames: Int
    let blocksAfter: Int
    /// How many frames must follow one another if a stream is picked up mid-stream.
    package let neededMidStream: Int
    /// The verdict before any bytes.
    package let initialVerdict: FormatProbe.Verdict
    /// Used by one trial at a time.
    let scratch = FramingScratch()

    package init(_ format: DirectionFormat, _ detection: FormatDetection) {
        (self.format, self.detection) = (format, detection)
        isStrong = detection.strength >= FormatDetection.outweighing
        isAtStart = detection.isAtStart
        isDemanding =
            detection.condition != nil || detection.distinct != nil || detection.needsValidBodies
            || detection.among != nil
        hasOpenHead = detection.openHead != nil
        (frames, blocksAfter) = (detection.frames, detection.blocksAfter)
        let more = isAtStart ? frames + 1 : max(2 * frames, 3)
        neededMidStream = isStrong ? frames : more
        var verdict = FormatProbe.Verdict()
        verdict.blocks = detection.blocksAfter == 0
        initialVerdict = verdict
    }
}
