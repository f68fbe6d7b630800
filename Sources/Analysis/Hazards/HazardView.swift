import Framing
import Streams
import Trace

/// A frame as a receiver sees it that reads chunk by chunk.
struct HazardView {
    var direction: Direction
    var info: FrameInfo
    var shape: FrameShape
    var type: String?
    var isHeartbeat: Bool
    /// Where the ids in its head are; empty if there are none, or nobody asks for them.
    var ids: [Range<Int>]
    /// The chunks that the frame spans, as ranges of the stream; empty if no longer known.
    var chunks: [Range<Int>]
    /// Which of the reads of all connections these are; nil if no longer known.
    var reads: ClosedRange<Int>?

    /// The frame's place in the stream.
    var place: Range<Int> { info.offset..<info.offset + info.length }
    /// Whether the frame is exactly one read.
    var isOneRead: Bool { chunks == [place] }
    /// Whether it was split.
    var isSplit: Bool { chunks.count > 1 }
    /// Whether other bytes precede it in the read that it begins in.
    var beginsWithin: Bool { chunks.first.map { $0.lowerBound < place.lowerBound } ?? false }
    /// Whether other bytes follow it in the read that it ends in.
    var endsWithin: Bool { chunks.last.map { $0.upperBound > place.upperBound } ?? false }
    /// Whether the read that it ends in ends within the next frame's header.
    var isBeforeCutHead: Bool {
        guard endsWithin, let last = chunks.last else { return false }
        return last.upperBound - place.upperBound < shape.head
    }
    /// Whether some of its bytes are after the first `count` of a read.
    func hasBytes(afterFirst count: Int) -> Bool {
        chunks.contains { min($0.upperBound, place.upperBound) > $0.lowerBound + count }
    }
    /// How many of its bytes are held at the end of each read but the last.
    var held: [Int] { chunks.dropLast().map { $0.upperBound - place.lowerBound } }
}

extension Format {
    /// Whether a hazard of published receivers is known.
    func has(_ hazard: Hazard) -> Bool { hazards.contains { $0.hazard == hazard } }
}

extension DirectionFormat {
    /// Where the ids in the heads of a layout are: its texts of fixed size.
    func ids(ofLayout number: Int) -> [Range<Int>] {
        guard layouts.indices.contains(number), let head = layouts[number].head as? BinaryHead else { return [] }
        return head.fixedOffsets.indices.compactMap { index in
            guard case .string(let size, _) = head.fields[index].kind else { return nil }
            return head.fixedOffsets[index]..<head.fixedOffsets[index] + size
        }
    }

    /// The same for bytes that are no frame, so that no layout is known: those of the first layout that has any.
    var usualIDs: [Range<Int>] { layouts.indices.lazy.map { self.ids(ofLayout: $0) }.first { !$0.isEmpty } ?? [] }
}

/// Where the chunks of a stream end, as far back as a frame may still begin.
struct ChunkEnds {
    private var ends: [(end: Int, read: Int)] = []
    private var start = 0
    /// The number of bytes so far.
    private(set) var total = 0
    /// At most how many chunk ends are remembered.
    private static let most = 4_096

    /// The next chunk; `read` is its number among those of all connections.
    mutating func add(_ byteCount: Int, read: Int) {
        total += byteCount
        ends.append((total, read))
        if ends.count > Self.most {
            start = ends[0].end
            ends.removeFirst()
        }
    }

    /// Which read brought a byte; nil if none has yet.
    func read(ofByteAt offset: Int) -> Int? { ends.first { $0.end > offset }?.read }

    /// The chunks that share bytes with a range, and which reads they are; chunks wholly before it are forgotten.
    mutating func chunks(of range: Range<Int>) -> (places: [Range<Int>], reads: ClosedRange<Int>?) {
        let gone = ends.firstIndex { $0.end > range.lowerBound } ?? ends.count
        if gone > 0 {
            start = ends[gone - 1].end
            ends.removeFirst(gone)
        }
        guard start <= range.lowerBound, let first = ends.first else { return ([], nil) }
        var chunks: [Range<Int>] = []
        var lower = start
        for (upper, read) in ends {
            chunks.append(lower..<upper)
            if upper >= range.upperBound { return (chunks, first.read...read) }
            lower = upper
        }
        return ([], nil)
    }
}
