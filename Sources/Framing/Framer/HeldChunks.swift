import Streams

/// Where a chunk is in its stream, and when it was seen.
struct ChunkPlace: Hashable, Sendable {
    var range: Range<Int>
    var time: Timestamp
    var packet: Int
}

/// The chunks that a framer's held bytes lie in.
///
/// Each is remembered for as long as a frame may still turn out to start in it. Once the extent of the frame in progress is known
/// (or remembering the chunks would take more memory than their bytes), they are only counted.
struct HeldChunks: Sendable {
    /// The first chunk remembered, or the first of those counted; nil if there are none.
    private var first: ChunkPlace?
    /// The chunks remembered after it.
    private var places: [ChunkPlace] = []
    /// How many are only counted, 0 if they are remembered, and the last of them.
    private var counted = 0
    private var last = ChunkPlace(range: 0..<0, time: Timestamp(nanoseconds: 0), packet: 0)

    /// How much memory the remembered chunks take.
    @inline(__always)
    var memory: Int { places.count &* MemoryLayout<ChunkPlace>.stride }

    /// Whether there are none.
    var isEmpty: Bool { first == nil && counted == 0 }

    /// Where the first of them begins; the end of any stream if there is none.
    @inline(__always)
    var start: Int { first?.range.lowerBound ?? .max }

    /// The chunks of a range of the stream.
    struct Extent {
        var first: ChunkPlace
        var last: ChunkPlace
        var segments: Int
    }

    /// Above this many, chunks are only counted in any case.
    private static let mostPlaces = 65_536

    /// Remembers the first chunk.
    ///
    /// - Parameter isCounted: whether those that follow are only counted.
    @inline(__always)
    mutating func begin(with place: ChunkPlace, isCounted: Bool) {
        first = place
        guard isCounted else { return }
        last = place
        counted = 1
    }

    @inline(__always)
    mutating func append(_ place: ChunkPlace) {
        if counted > 0 {
            last = place
            counted += 1
        } else if first == nil {
            first = place
        } else {
            places.append(place)
            if places.count >= Self.mostPlaces { count() }
        }
    }

    /// From now on, only counts the chunks remembered so far.
    mutating func count() {
        guard counted == 0, let first else { return }
        last = places.last ?? first
        counted = places.count + 1
        if !places.isEmpty { places = [] }
    }

    mutating func removeAll() {
        counted = 0
        first = nil
        if !places.isEmpty { places = [] }
    }

    /// Forgets what lies wholly before `offset`; `latest` is the newest chunk.
    mutating func drop(before offset: Int, latest: ChunkPlace) {
        guard let first, first.range.upperBound <= offset else { return }
        if counted > 0 {
            if offset == first.range.upperBound { return }
            // The frame they were counted for is gone, and only the newest chunk can reach beyond it.
            removeAll()
            if latest.range.upperBound > offset { self.first = latest }
            return
        }
        let gone = places.partitioningIndex { $0.range.upperBound > offset }
        self.first = gone < places.count ? places[gone] : nil
        places.removeFirst(min(gone + 1, places.count))
    }

    /// The chunks that share bytes with a range of the stream, which is not empty.
    func extent(of range: Range<Int>, latest: ChunkPlace) -> Extent {
        guard let first else { return Extent(first: latest, last: latest, segments: 1) }
        if counted > 0 { return Extent(first: first, last: last, segments: counted) }
        func place(_ index: Int) -> ChunkPlace { index == 0 ? first : places[index - 1] }
        let low =
            first.range.upperBound > range.lowerBound
            ? 0 : places.partitioningIndex { $0.range.upperBound > range.lowerBound } + 1
        let high =
            first.range.lowerBound >= range.upperBound
            ? 0 : places.partitioningIndex { $0.range.lowerBound >= range.upperBound } + 1
        guard low < high else { return Extent(first: latest, last: latest, segments: 1) }
        return Extent(first: place(low), last: place(high - 1), segments: high - low)
    }

    /// When the byte at a stream offset was seen; nil if its chunk is not held.
    func time(ofByteAt offset: Int) -> Timestamp? {
        guard let first else { return nil }
        if counted > 0 { return last.time }
        if first.range.contains(offset) { return first.time }
        let index = places.partitioningIndex { $0.range.upperBound > offset }
        guard index < places.count, places[index].range.contains(offset) else { return nil }
        return places[index].time
    }
}

extension Array {
    /// The first index whose element fulfils `condition`, given that none before it and all after it do.
    func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
