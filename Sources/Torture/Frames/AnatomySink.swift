import Framing
import Streams
import Trace

/// Collects the parts of the frames of one side while they are recorded.
final class AnatomySink: TraceSink {
    /// A frame.
    struct Entry: Sendable {
        /// The connection's number, from 1.
        var connection: Int
        var index: Int
        var type: String?
        var anatomy: FrameAnatomy
    }

    private(set) var entries: [Entry] = []
    private let direction: Direction

    init(_ direction: Direction) { self.direction = direction }

    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard frame.direction == direction, let format = connection.format?.directions[direction] else { return }
        let info = frame.info
        // With escapes resolved the content has other places than the bytes.
        let isWhole = info.streamed == 0 && bytes.byteCount == info.length && !format.rule.transforms
        let anatomy =
            isWhole
            ? FrameAnatomy(bytes.copied(0..<bytes.byteCount), info.shape, format)
            : FrameAnatomy([UInt8](repeating: 0, count: info.length))
        entries.append(
            Entry(
                connection: connection.number, index: info.index, type: format.type(of: bytes, frame.shape),
                anatomy: anatomy))
    }
}
