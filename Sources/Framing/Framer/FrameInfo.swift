import Streams

/// Where a frame is in its stream, and when and how it was seen.
public struct FrameInfo: Hashable, Sendable {
    /// Counts the frames of one direction from 0.
    public var index: Int
    /// The stream offset of its first byte.
    public var offset: Int
    /// Its parts, in bytes.
    public var shape: FrameShape
    /// When its first byte was seen.
    public var started: Timestamp
    /// When its last byte was seen.
    public var time: Timestamp
    /// How many chunks it spans.
    public var segments: Int
    /// Whether other bytes of the stream share one of its chunks.
    public var merged: Bool
    /// Its position among the frames of the chunk it ended in, from 1.
    public var position: Int
    /// How many frames had bytes in that chunk, an unfinished last one included.
    public var companions: Int
    /// How many of its bytes were not seen; they are zeros.
    public var missing: Int
    /// The number of the packet that carried its last byte; 0 if there are no packets.
    public var packet: Int
    /// How many bytes at the end of its body were streamed: they were passed on, and are not among its available bytes.
    public var streamed: Int { Int(streamedBytes.magnitude) }
    /// If bytes were streamed: whether the whole body is valid UTF-8.
    public var isText: Bool { streamedBytes < 0 }
    /// Both in one word, negative for text: frames are passed on often, and rarely streamed.
    private var streamedBytes = 0

    /// The parts of the available bytes.
    public var partsAtHand: FrameShape {
        var parts = shape
        parts.body -= streamed
        return parts
    }

    /// A frame whose parts alone are known.
    init(of shape: FrameShape) {
        let never = Timestamp(nanoseconds: 0)
        self.init(
            index: 0, offset: 0, shape: shape, started: never, time: never, segments: 1, merged: false, position: 1,
            companions: 1, missing: 0, packet: 0)
    }

    /// A frame, as its parts say.
    package init(
        index: Int, offset: Int, shape: FrameShape, started: Timestamp, time: Timestamp, segments: Int, merged: Bool,
        position: Int, companions: Int, missing: Int, packet: Int
    ) {
        (self.index, self.offset, self.shape, self.started, self.time) = (index, offset, shape, started, time)
        (self.segments, self.merged, self.position, self.companions) = (segments, merged, position, companions)
        (self.missing, self.packet) = (missing, packet)
    }

    /// Records how many bytes were streamed.
    package mutating func setStreamed(_ count: Int, isText: Bool) { streamedBytes = isText ? -count : count }

    /// Its total length, seen or not.
    @inlinable
    public var length: Int { shape.total }
}

/// A run of bytes that belong to no frame: contiguous, with one reason.
public struct UnframedRun: Hashable, Sendable {
    /// The largest piece a run is reported in, in bytes.
    public static let longest = 65_536

    /// The stream offset of the first byte.
    public var offset: Int
    /// The bytes; none if they were not kept, because they were streamed as part of a large body.
    public var bytes: [UInt8]
    /// How many bytes were not kept.
    public internal(set) var streamed = 0
    /// When the last byte was seen.
    public var time: Timestamp
    /// Why.
    public var reason: UnframedReason
    /// Human-readable: what was found and expected, and where and how frames chain again.
    public var detail: String

    /// How many bytes of the stream it covers.
    public var byteCount: Int { bytes.count + streamed }
}

/// The bytes of one direction, by classification. The first four add up to `bytes`.
public struct ByteCounts: Hashable, Sendable {
    /// Bytes that lie in frames.
    public var framed = 0
    /// Bytes that belong to no frame.
    public var unframed = 0
    /// Bytes that the format allows between frames.
    public var padding = 0
    /// Bytes that were not seen.
    public var missing = 0
    /// Frames.
    public var frames = 0

    /// No bytes.
    public init() {}

    /// All bytes from the first to the last one seen.
    public var bytes: Int { framed + unframed + padding + missing }
}

/// Receives the results of a `Framer`, in stream order.
package protocol FrameReceiver: AnyObject {
    /// A frame. Its bytes are borrowed for the duration of the call.
    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction)

    /// Frames that follow one another in `bytes`, which are borrowed for the duration of the call: passed as a batch for
    /// receivers that have a quicker way than one by one.
    func framed(_ frames: FrameBatch, in bytes: RawSpan, from direction: Direction)

    /// The next bytes of a large body: they are not among those of the frame when it is complete. Borrowed for the duration of
    /// the call.
    func streamed(_ part: StreamedPart, bytes: RawSpan, from direction: Direction)

    /// Bytes that belong to no frame.
    func unframed(_ run: UnframedRun, from direction: Direction)

    /// Bytes that were not seen.
    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp)
}

extension FrameReceiver {
    /// Ignores them, as most receivers do.
    package func streamed(_ part: StreamedPart, bytes: RawSpan, from direction: Direction) {}

    /// One by one.
    package func framed(_ frames: FrameBatch, in bytes: RawSpan, from direction: Direction) {
        for index in 0..<frames.count {
            let item = frames[index]
            framed(
                frames.info(index), bytes: bytes.extracting(item.start..<item.start + item.shape.total), from: direction
            )
        }
    }
}
