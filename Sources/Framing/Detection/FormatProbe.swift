import Streams

/// Finds out whether one direction of a connection is of a format, by framing it on trial.
///
/// What it finds depends on the bytes, not on how they were cut: a format fits from the byte on that completes the head
/// of the last frame needed, wherever the chunks end.
public struct FormatProbe {
    /// The stream offset from which on it is known that the format fits; nil while it is not.
    public private(set) var fitsFrom: Int?

    private var framer: Framer
    private let needed: Int
    private let ends = HeadEnds()
    private let scratch = FramingScratch()

    /// A probe for one direction.
    ///
    /// - Parameters:
    ///   - frames: how many frames must chain.
    ///   - aligned: whether the stream's first byte was seen.
    public init(rule: any FramingRule, frames: Int, direction: Direction, aligned: Bool) {
        framer = Framer(rule: rule, direction: direction, aligned: aligned)
        needed = frames
    }

    /// The next bytes of the stream.
    public mutating func receive(_ chunk: RawSpan) {
        guard fitsFrom == nil else { return }
        framer.receive(chunk, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: ends)
        judge()
    }

    /// A hole in the stream.
    public mutating func missing(_ byteCount: Int) {
        guard fitsFrom == nil else { return }
        framer.missing(byteCount, at: Timestamp(nanoseconds: 0), scratch: scratch, into: ends)
        judge()
    }

    private mutating func judge() {
        if ends.offsets.count >= needed {
            fitsFrom = ends.offsets[needed - 1]
        } else if ends.offsets.count + 1 == needed, let shape = framer.shape {
            // The head is complete; its body need not be waited for.
            fitsFrom = framer.origin + shape.head
        }
    }

    /// Where the frames' heads ended.
    private final class HeadEnds: FrameReceiver {
        var offsets: [Int] = []

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            offsets.append(frame.offset + frame.shape.head)
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {}
        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}
