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
        /// The state after them.
        var state: LineState?
    }

    /// The lines.
    struct Content {
        /// The state before them.
        var state: LineState?
        var frames: [Frame] = []
        var bytes: [UInt8] = []
        var texts: [Text] = []
        var text: [UInt8] = []
        /// How many bytes the frames' decoded bodies have.
        var decoded = 0

        var isEmpty: Bool { frames.isEmpty && texts.isEmpty }
        /// Mutating: otherwise the arrays would be retained to read their counts.
        var isFull: Bool {
            mutating get {
                frames.count >= LineBatch.mostFrames || bytes.count + text.count + decoded >= LineBatch.size
            }
        }
    }

    /// `LineBatcher` swaps this out while it fills it: reaching it through the batch counts references for each frame.
    var content = Content()
    /// All formats known so far.
    var formats: [Format] = []
    /// All lines, once they are rendered.
    package internal(set) var lines: [UInt8] = []

    /// An empty batch.
    package init() {}

    // Computed: see "Performance idioms" in docs/architecture.md.

    /// A batch is handed on when it holds this many bytes.
    static var size: Int { 256 << 10 }
    /// The same for frames.
    static var mostFrames: Int { 1_024 }

    /// Empties it for the next lines; small buffers are kept.
    package func empty() {
        content.frames.removeAll(keepingCapacity: true)
        content.texts.removeAll(keepingCapacity: true)
        content.bytes.empty(keeping: 2 * Self.size)
        content.text.empty(keeping: 2 * Self.size)
        content.decoded = 0
        lines.empty(keeping: 16 * Self.size)
    }
}
