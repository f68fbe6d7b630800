import Streams
import Trace

/// The chunks of a direction that may have bytes of its next frame.
struct ChunkPlaces {
    private var chunks: [TracedChunk] = []

    /// A chunk arrived.
    mutating func append(_ chunk: TracedChunk) {
        // Of a frame in more chunks than are kept, the first and the last ones are known.
        if chunks.count >= FrameDetail.mostCuts { chunks.remove(at: FrameDetail.mostCuts / 2) }
        chunks.append(chunk)
    }

    /// The chunks of a range of the stream. What lies before its end is forgotten, except for the chunk that goes on after it.
    mutating func cuts(of range: Range<Int>) -> [FrameDetail.Cut] {
        var cuts: [FrameDetail.Cut] = []
        for chunk in chunks where chunk.range.overlaps(range) {
            let at = cuts.isEmpty ? 0 : max(0, chunk.range.lowerBound - range.lowerBound)
            cuts.append(FrameDetail.Cut(at: at, time: chunk.time, packet: chunk.packet))
        }
        forget(before: range.upperBound)
        return cuts
    }

    /// Nothing before this offset is asked for any more.
    mutating func forget(before offset: Int) {
        if let kept = chunks.firstIndex(where: { $0.range.upperBound > offset }) {
            if kept > 0 { chunks.removeFirst(kept) }
        } else {
            chunks.removeAll(keepingCapacity: true)
        }
    }
}
