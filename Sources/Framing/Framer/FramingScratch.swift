import Streams

/// Working memory that framers share, so that none is allocated for a chunk and none is kept for a connection.
///
/// Only one framer uses it at a time; it is empty between calls. So nobody needs to check on every access that nobody else has
/// one under way.
public final class FramingScratch {
    /// An unframed run, and how many frames had been found when it was complete.
    struct CompleteRun {
        var run: UnframedRun
        var framesBefore: Int
        var isBeforeHeld: Bool
    }

    /// The frame whose bytes the framer holds; it comes before `items`.
    @exclusivity(unchecked) var heldFrame: FrameInfo?
    @exclusivity(unchecked) var items: [FrameItem] = []
    /// What is known of the chunks of frames that do not lie in the newest alone.
    @exclusivity(unchecked) var extents: [HeldChunks.Extent] = []
    /// Whether one of them ends before the newest chunk.
    @exclusivity(unchecked) var endsEarlier = false
    @exclusivity(unchecked) var runs: [CompleteRun] = []

    /// Empty working memory.
    public init() {}

    /// Makes it empty again; a large buffer is given back.
    func reset() {
        items.removeAll(keepingCapacity: items.capacity <= 4_096)
        if !extents.isEmpty { extents.removeAll(keepingCapacity: extents.capacity <= 256) }
        if !runs.isEmpty { runs.removeAll() }
        heldFrame = nil
        endsEarlier = false
    }
}
