import Streams

/// Finds out whether one direction of a connection is of a format, by framing it on trial.
///
/// What it finds depends on the bytes, not on how they were cut: a format fits from the byte on that completes the head
/// of the last frame needed, and is ruled out from the first byte on that is no frame, wherever the chunks end.
public struct FormatProbe {
    /// The stream offset from which on the format fits; nil while it does not.
    public private(set) var fitsFrom: Int?
    /// The stream offset from which on the format is ruled out; nil while it is not.
    public private(set) var refutedFrom: Int?
    /// The stream offset from which on weaker formats have to wait for this one.
    public private(set) var blocksFrom: Int?

    private var framer: Framer
    private let format: DirectionFormat
    private let detection: FormatDetection
    private let aligned: Bool
    private let frames = Frames()
    private let scratch = FramingScratch()

    /// A probe for one direction.
    ///
    /// - Parameter aligned: whether the stream's first byte was seen.
    public init(_ format: DirectionFormat, _ detection: FormatDetection, direction: Direction, aligned: Bool) {
        framer = Framer(rule: format.rule, direction: direction, aligned: aligned)
        self.format = format
        self.detection = detection
        self.aligned = aligned
        blocksFrom = detection.blocksAfter == 0 ? 0 : nil
        frames.format = format
        frames.detection = detection
    }

    /// The next bytes of the stream.
    public mutating func receive(_ chunk: RawSpan) {
        framer.receive(chunk, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: frames)
        judge()
    }

    /// A hole in the stream.
    public mutating func missing(_ byteCount: Int) {
        framer.missing(byteCount, at: Timestamp(nanoseconds: 0), scratch: scratch, into: frames)
        judge()
    }

    /// The stream ended.
    public mutating func finish() {
        framer.finish(scratch: scratch, into: frames)
        judge()
    }

    private mutating func judge() {
        let needed = detection.frames
        if fitsFrom == nil {
            if frames.heads.count >= needed {
                fitsFrom = frames.heads[needed - 1]
            } else if frames.heads.count + 1 == needed, detection.condition == nil, detection.distinct == nil,
                let shape = framer.shape
            {
                // The head is complete; its body need not be waited for.
                fitsFrom = framer.origin + shape.head
            } else if frames.heads.count + 1 == needed, let proof = framer.proof {
                fitsFrom = framer.origin + proof
            }
        }
        if blocksFrom == nil, frames.heads.count >= detection.blocksAfter {
            blocksFrom = frames.heads[detection.blocksAfter - 1]
        }
        if refutedFrom == nil {
            if let offset = frames.refuted { refutedFrom = offset }
            if aligned, let offset = framer.run?.offset ?? frames.unframed {
                refutedFrom = min(refutedFrom ?? .max, offset)
            }
        }
    }

    /// What the trial's frames say.
    private final class Frames: FrameReceiver {
        var format: DirectionFormat?
        var detection: FormatDetection?
        /// Where the frames' heads ended, for those that fulfil the condition.
        var heads: [Int] = []
        /// The first byte of the first frame that does not.
        var refuted: Int?
        var unframed: Int?
        private var values: Set<FieldValue> = []

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            guard refuted == nil, let format, let detection else { return }
            let fits = format.withContent(of: bytes, frame.shape) { content, shape in
                if let condition = detection.condition,
                    !FrameValues(info: frame, direction: direction).fulfil(
                        condition, content: content, shape: shape, format: format)
                {
                    return false
                }
                guard let distinct = detection.distinct else { return true }
                if let value = format.field(distinct.field, of: content, shape) { values.insert(value) }
                return values.count <= distinct.most
            }
            if fits { heads.append(frame.offset + frame.shape.head) } else { refuted = frame.offset }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {
            if unframed == nil { unframed = run.offset }
        }

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}
