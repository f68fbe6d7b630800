import Streams

/// Working memory that framers share, so that none is allocated for a chunk and none is kept for a connection.
///
/// Only one framer uses it at a time; it is empty between calls.
public final class FramingScratch {
    /// A result that waits until its chunk has been looked through.
    enum Item {
        /// A frame whose bytes start at `start` of the bytes at hand, or are `held` here; `chunk` is where it ended.
        case frame(FrameInfo, start: Int, held: Bool, chunk: Range<Int>)
        case unframed(UnframedRun)
    }

    var items: [Item] = []
    var held: [UInt8] = []

    /// Empty working memory.
    public init() {}

    /// Makes it empty again; a large buffer is given back.
    func reset() {
        items.removeAll(keepingCapacity: items.capacity <= 4_096)
        held.removeAll(keepingCapacity: held.capacity <= 65_536)
    }

    /// Says of each frame which of how many it is in the chunk it ended in.
    ///
    /// - Parameter unfinished: the stream offset at which a frame under way starts, if there is one.
    func number(unfinished: Int?) {
        var start = 0
        while start < items.count {
            guard case .frame(_, _, _, let chunk) = items[start] else {
                start += 1
                continue
            }
            var end = start
            var frames = 0
            var follower = unfinished
            while end < items.count {
                if case .frame(let info, _, _, let other) = items[end] {
                    if other != chunk {
                        follower = info.offset
                        break
                    }
                    frames += 1
                }
                end += 1
            }
            if let follower, follower < chunk.upperBound { frames += 1 }
            var position = 0
            for index in start..<end {
                guard case .frame(var info, let at, let held, _) = items[index] else { continue }
                position += 1
                (info.position, info.companions) = (position, frames)
                items[index] = .frame(info, start: at, held: held, chunk: chunk)
            }
            start = end
        }
    }
}
