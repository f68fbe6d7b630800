import Streams

/// Working memory shared by framers, so that none is allocated per chunk and none is kept per connection.
///
/// Only one framer uses it at a time; it is empty between calls. So exclusivity need not be checked on every access.
package final class FramingScratch {
    /// An unframed run, and how many frames had been found when it was complete.
    struct CompleteRun {
        var run: UnframedRun
        var framesBefore: Int
        var isBeforeHeld: Bool
    }

    /// The frame whose bytes the framer holds; it precedes `items`.
    @exclusivity(unchecked) var heldFrame: FrameInfo?
    @exclusivity(unchecked) var items: [FrameItem] = []
    /// The extents of frames that do not lie in the newest chunk alone.
    @exclusivity(unchecked) var extents: [HeldChunks.Extent] = []
    /// Whether one of them ends before the newest chunk.
    @exclusivity(unchecked) var endsEarlier = false
    @exclusivity(unchecked) var runs: [CompleteRun] = []
    /// How many frames of the newest chunk were counted before, and are not among `items`.
    @exclusivity(unchecked) var counted = 0

    @exclusivity(unchecked) var spares = SpareBuffers()

    /// Empty working memory.
    package init() {}

    /// Empties it again; a large buffer is freed.
    func reset() {
        items.removeAll(keepingCapacity: items.capacity <= 4_096)
        if !extents.isEmpty { extents.removeAll(keepingCapacity: extents.capacity <= 256) }
        if !runs.isEmpty { runs.removeAll() }
        heldFrame = nil
        endsEarlier = false
    }
}
