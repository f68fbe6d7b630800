import Streams

/// Frames that follow one another in the available bytes, as a framer found them in one pass.
///
/// Most receivers need little of most frames: a frame's place and times are computed only on request. Valid for the duration of
/// the call that passes it on.
package struct FrameBatch {
    /// Where the framer has recorded the frames. Unmanaged: the framer's caller owns it for longer than the batch exists, which
    /// no one keeps.
    private let scratch: Unmanaged<FramingScratch>
    /// Which of the recorded frames these are.
    let range: Range<Int>
    /// The stream offset of the first available byte.
    let origin: Int
    /// The number of the first recorded frame among the frames of its direction.
    let firstIndex: Int
    /// The newest chunk.
    let chunk: ChunkPlace
    /// How many frames with bytes in the newest chunk precede the first recorded one, and how many there are in total.
    let before: Int
    let companions: Int

    init(
        _ scratch: FramingScratch, range: Range<Int>, origin: Int, firstIndex: Int, chunk: ChunkPlace, before: Int,
        companions: Int
    ) {
        self.scratch = Unmanaged.passUnretained(scratch)
        (self.range, self.origin, self.firstIndex, self.chunk) = (range, origin, firstIndex, chunk)
        (self.before, self.companions) = (before, companions)
    }

    /// One of all recorded frames, and of all their extents.
    @inline(__always)
    func noted(_ index: Int) -> FrameItem { scratch._withUnsafeGuaranteedRef { $0.items[index] } }
    func extent(_ index: Int) -> HeldChunks.Extent { scratch._withUnsafeGuaranteedRef { $0.extents[index] } }

    /// The number of frames.
    package var count: Int { range.count }

    /// When the newest chunk was seen.
    @inline(__always)
    package var time: Timestamp { chunk.time }

    /// The index of a frame's first byte in the available bytes, and its parts.
    @inline(__always)
    package subscript(index: Int) -> FrameItem { noted(range.lowerBound &+ index) }

    /// Where a frame is in its stream, and when and how it was seen.
    package func info(_ index: Int) -> FrameInfo {
        let item = noted(range.lowerBound + index)
        let place = origin + item.start..<origin + item.start + item.shape.total
        let extent =
            item.extent < 0
            ? HeldChunks.Extent(first: chunk, last: chunk, segments: 1) : extent(Int(item.extent))
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
