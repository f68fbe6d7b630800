import Framing
import Streams

/// Consecutive lines of a trace that are still to be written: frames with their bytes, and other lines as they are.
///
/// Sendable because it has one owner at a time: the thread that fills it, then one that renders it, then the first again.
package final class LineBatch: @unchecked Sendable {
    /// A frame's line.
    struct Frame {
        var frame: TracedFrame
        var connection: ConnectionLeg
        /// The number of its format among `formats`.
        var format: Int
        /// Where its bytes end; they begin where those of the frame before end.
        var end: Int
    }

    /// Lines that are written already.
    struct Text {
        /// How many frames come before them.
        var framesBefore: Int
        /// Where they end.
        var end: Int
    }

    // Nothing called while these change re-enters the batch's owner.
    @exclusivity(unchecked) var frames: [Frame] = []
    @exclusivity(unchecked) var bytes: [UInt8] = []
    @exclusivity(unchecked) var texts: [Text] = []
    @exclusivity(unchecked) var text: [UInt8] = []
    /// How many bytes the frames' decoded bodies have.
    var decoded = 0
    /// All formats known so far.
    var formats: [Format] = []
    /// All lines, once they are rendered.
    package internal(set) var lines: [UInt8] = []

    /// An empty batch.
    package init() {}

    /// A batch is handed on when it holds this many bytes or frames.
    static let (size, mostFrames) = (256 << 10, 1_024)

    var isEmpty: Bool { frames.isEmpty && texts.isEmpty }
    var isFull: Bool { frames.count >= Self.mostFrames || bytes.count + text.count + decoded >= Self.size }

    /// Empties it for the next lines; small buffers are kept.
    package func empty() {
        frames.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        bytes.empty(keeping: 2 * Self.size)
        text.empty(keeping: 2 * Self.size)
        lines.empty(keeping: 16 * Self.size)
        decoded = 0
    }
}
