import Framing
import Streams

/// Collects what a framer finds in a chunk.
final class FrameCollector: FrameReceiver {
    enum Item {
        case frame(FrameInfo)
        /// Everything up to this offset belongs to no frame, or to one whose beginning has passed.
        case passed(to: Int)
    }

    /// Only the framer changes it, and nothing reads it meanwhile: exclusivity need not be checked.
    @exclusivity(unchecked) var items: [Item] = []

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) { items.append(.frame(frame)) }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        items.append(.passed(to: run.offset + run.byteCount))
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}
