import Streams

/// Where a chunk lies in its stream, and when it was seen.
struct ChunkPlace: Hashable, Sendable {
    var range: Range<Int>
    var time: Timestamp
    var packet: Int
}

/// The chunks that a framer's held bytes lie in.
///
/// Each is remembered for as long as a frame may still turn out to start in it. Once the extent of the frame under way
/// is known (or so many chunks are held that remembering would cost more than the bytes), they are only counted.
struct HeldChunks: Sendable {
    private var places: [ChunkPlace] = []
    /// What remains of chunks that are only counted, and before `places`.
    private var counted: Counted?

    private struct Counted {
        var first: ChunkPlace
        var last: ChunkPlace
        var count: Int
    }

    /// What the chunks say of a range of the stream.
    struct Extent {
        var first: ChunkPlace
        var last: ChunkPlace
        var segments: Int
    }

    /// Above so many chunks they are counted, whatever is known.
    private static let mostPlaces = 65_536

    mutating func append(_ place: ChunkPlace) {
        if counted != nil {
            counted?.last = place
            counted?.count += 1
            return
        }
        places.append(place)
        if places.count > Self.mostPlaces { count() }
    }

    /// Counts what was remembered so far.
    mutating func count() {
        guard counted == nil, let first = places.first, let last = places.last else { return }
        counted = Counted(first: first, last: last, count: places.count)
        places = []
    }

    mutating func removeAll() {
        counted = nil
        if !places.isEmpty { places = [] }
    }

    /// Forgets what lies wholly before `offset`; `latest` is the newest chunk.
    mutating func drop(before offset: Int, latest: ChunkPlace) {
        if let counted, offset > counted.first.range.upperBound {
            // The frame they were counted for is gone, and only the newest chunk can reach beyond it.
            self.counted = nil
            places = latest.range.upperBound > offset ? [latest] : []
            return
        }
        let gone = places.prefix { $0.range.upperBound <= offset }.count
        if gone > 0 { places.removeFirst(gone) }
    }

    /// The chunks that share bytes with a range of the stream, which is not empty.
    func extent(of range: Range<Int>, latest: ChunkPlace) -> Extent {
        if let counted { return Extent(first: counted.first, last: counted.last, segments: counted.count) }
        let low = places.partitioningIndex { $0.range.upperBound > range.lowerBound }
        let high = places.partitioningIndex { $0.range.lowerBound >= range.upperBound }
        guard low < high else { return Extent(first: latest, last: latest, segments: 1) }
        return Extent(first: places[low], last: places[high - 1], segments: high - low)
    }

    /// When the byte at a stream offset was seen; nil where its chunk is not held.
    func time(ofByteAt offset: Int) -> Timestamp? {
        let index = places.partitioningIndex { $0.range.upperBound > offset }
        guard index < places.count, places[index].range.contains(offset) else { return counted?.last.time }
        return places[index].time
    }
}

extension Array {
    /// The first index whose element fulfils `condition`, given that none before it and all behind it do.
    func partitioningIndex(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if condition(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
