import Streams

/// Finds out whether one direction of a connection is of a format, by framing it on trial.
public struct FormatProbe {
    /// Whether the format fits: the heads of as many frames as needed are complete.
    public private(set) var fits = false
    /// Whether the format is ruled out: bytes that are no frame, or frames that are not as they should be.
    public private(set) var isRefuted = false
    /// Whether weaker formats have to wait for this one.
    public private(set) var blocks: Bool

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
        blocks = detection.blocksAfter == 0
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
        if frames.count >= needed {
            fits = true
        } else if frames.count + 1 == needed, detection.condition == nil, detection.distinct == nil {
            // The head is complete, or proves enough: the rest need not be waited for.
            if framer.shape != nil || framer.proof != nil { fits = true }
        }
        if frames.count >= detection.blocksAfter { blocks = true }
        if frames.isRefuted || (aligned && (framer.hasRun || frames.hasUnframed)) { isRefuted = true }
    }

    /// What the trial's frames say.
    private final class Frames: FrameReceiver {
        var format: DirectionFormat?
        var detection: FormatDetection?
        /// How many frames fulfil the condition.
        var count = 0
        /// Whether one did not.
        var isRefuted = false
        var hasUnframed = false
        private var values: Set<FieldValue> = []

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            guard !isRefuted, let format, let detection else { return }
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
            if fits { count += 1 } else { isRefuted = true }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {
            hasUnframed = true
        }

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}
