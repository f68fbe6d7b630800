import Streams

/// Frames that follow one another in the bytes at hand, as a framer found them in one look.
///
/// Most receivers want little of most frames: what a frame's place and times are is put together only when somebody asks.
/// Valid for the time of the call that hands it over.
public struct FrameBatch {
    /// Where the framer has noted the frames.
    let scratch: FramingScratch
    /// Which of the noted frames these are.
    let range: Range<Int>
    /// The stream offset of the first of the bytes at hand.
    let origin: Int
    /// The number that the first noted frame has among the frames of its direction.
    let firstIndex: Int
    /// The newest chunk.
    let chunk: ChunkPlace
    /// How many frames with bytes in the newest chunk come before the first noted one, and how many have some in all.
    let before: Int
    let companions: Int

    /// How many frames these are.
    public var count: Int { range.count }

    /// When the newest chunk was seen.
    @inline(__always)
    public var time: Timestamp { chunk.time }

    /// The place of a frame's first byte in the bytes at hand, and its parts.
    @inline(__always)
    public subscript(index: Int) -> FrameItem { scratch.items[range.lowerBound &+ index] }

    /// Where a frame lies in its stream, and when and how it was seen.
    public func info(_ index: Int) -> FrameInfo {
        let item = scratch.items[range.lowerBound + index]
        let place = origin + item.start..<origin + item.start + item.shape.total
        let extent =
            item.extent < 0
            ? HeldChunks.Extent(first: chunk, last: chunk, segments: 1) : scratch.extents[Int(item.extent)]
        return FrameInfo(
            index: firstIndex + range.lowerBound + index, place: place, shape: item.shape, extent: extent,
            position: before + range.lowerBound + index + 1, companions: companions)
    }
}

extension FrameInfo {
    /// A frame all of whose bytes were seen.
    init(
        index: Int, place: Range<Int>, shape: FrameShape, extent: HeldChunks.Extent, position: Int = 1,
        companions: Int = 1, missing: Int = 0
    ) {
        let shared =
            extent.first.range.lowerBound < place.lowerBound || extent.last.range.upperBound > place.upperBound
        self.init(
            index: index, offset: place.lowerBound, shape: shape, started: extent.first.time, time: extent.last.time,
            segments: extent.segments, merged: shared, position: position, companions: companions, missing: missing,
            packet: extent.last.packet)
    }
}
