import Streams

/// Frames that follow one another in the bytes at hand, as a framer found them in one look.
///
/// Most receivers want little of most frames: what a frame's place and times are is put together only when somebody asks.
/// Valid for the time of the call that hands it over.
public struct FrameBatch {
    /// Where the framer has noted the frames. Not counted as a reference: the framer's caller has it for longer than the batch,
    /// which nobody keeps, is there.
    private let scratch: Unmanaged<FramingScratch>
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

    init(
        _ scratch: FramingScratch, range: Range<Int>, origin: Int, firstIndex: Int, chunk: ChunkPlace, before: Int,
        companions: Int
    ) {
        self.scratch = Unmanaged.passUnretained(scratch)
        (self.range, self.origin, self.firstIndex, self.chunk) = (range, origin, firstIndex, chunk)
        (self.before, self.companions) = (before, companions)
    }

    /// One of all the frames that were noted, and of all their extents.
    @inline(__always)
    func noted(_ index: Int) -> FrameItem { scratch._withUnsafeGuaranteedRef { $0.items[index] } }
    func extent(_ index: Int) -> HeldChunks.Extent { scratch._withUnsafeGuaranteedRef { $0.extents[index] } }

    /// How many frames these are.
    public var count: Int { range.count }

    /// When the newest chunk was seen.
    @inline(__always)
    public var time: Timestamp { chunk.time }

    /// The place of a frame's first byte in the bytes at hand, and its parts.
    @inline(__always)
    public subscript(index: Int) -> FrameItem { noted(range.lowerBound &+ index) }

    /// Where a frame lies in its stream, and when and how it was seen.
    public func info(_ index: Int) -> FrameInfo {
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
