import Streams

/// A segment, or part of one, that waits for the bytes before it.
struct HeldSegment {
    /// The stream offset of its first byte.
    var start: Int
    /// Where its bytes are in `HeldSegments.bytes`.
    var place: Int
    /// When it was captured.
    var time: Timestamp
    /// The number of its packet.
    var packet: Int
    private var shortCount: UInt32

    /// How many bytes it has.
    var count: Int { Int(shortCount) }
    /// The stream offset after its last byte.
    var end: Int { start + count }

    init(start: Int, place: Int, count: Int, time: Timestamp, packet: Int) {
        (self.start, self.place, self.time, self.packet) = (start, place, time, packet)
        shortCount = UInt32(count)
    }
}

/// Waiting segments of one direction, in order of their offsets and without overlap.
///
/// They are kept in an ordered list of short ordered lists, so that inserting anywhere moves little, whatever the order of
/// arrival. A single one has no list: of a million connections picked up mid-stream, most hold one segment for a second.
struct HeldSegments {
    /// The most segments a block has.
    private static let blockCapacity = 64
    /// What a segment costs in addition to its bytes: its entry, in a block that may be half full.
    private static let overhead = 2 * MemoryLayout<HeldSegment>.stride

    /// The segment, if it is the only one and came first; `blocks` is then empty.
    private var only: HeldSegment?
    // In an order that leaves no room between them.
    /// `taken`: not more than a block has.
    private var takenCount: UInt8 = 0
    private var shortCount: UInt32 = 0
    /// None is empty, except for segments already taken from the first.
    private var blocks: [[HeldSegment]] = []
    /// The bytes of all of them, in order of arrival, and of some already taken.
    private(set) var bytes: [UInt8] = []
    /// How many segments were taken from the front of the first block.
    private var taken: Int {
        get { Int(takenCount) }
        set { takenCount = UInt8(newValue) }
    }
    /// How many segments there are.
    private(set) var count: Int {
        get { Int(shortCount) }
        set { shortCount = UInt32(newValue) }
    }
    /// How many bytes they hold.
    private(set) var byteCount = 0

    /// Approximate memory use; if anything is held, its holder and the arrays themselves count, too.
    var cost: Int { count == 0 ? 0 : 208 + byteCount + (only == nil ? 128 + count * HeldSegments.overhead : 0) }
    /// Whether there are none.
    var isEmpty: Bool { count == 0 }
    /// The offset of the first byte held.
    var firstStart: Int? { only?.start ?? blocks.first?[taken].start }

    /// Whether bytes are missing between the first and the last of them.
    var hasGaps: Bool { (end ?? 0) - (firstStart ?? 0) != byteCount }

    /// When the first byte held was captured.
    var firstTime: Timestamp { only?.time ?? blocks.first?[taken].time ?? Timestamp(nanoseconds: .min) }

    /// Removes the first. Its bytes stay where they are until `compact`.
    mutating func popFirst() -> HeldSegment? {
        if let segment = only {
            (only, count, byteCount) = (nil, 0, 0)
            return segment
        }
        guard !blocks.isEmpty else { return nil }
        let segment = blocks[0][taken]
        taken += 1
        if taken == blocks[0].count {
            blocks.removeFirst()
            taken = 0
        }
        count -= 1
        byteCount -= segment.count
        return segment
    }

    /// The stream offset after the last of them; nil if nothing is held.
    var end: Int? { isEmpty ? nil : only?.end ?? blocks.last?.last?.end }

    /// Drops the bytes of segments already taken, once they outnumber the rest.
    mutating func compact() {
        guard bytes.count > 2 * byteCount + 4096 else { return }
        var kept: [UInt8] = []
        kept.reserveCapacity(byteCount)
        if let segment = only {
            kept += bytes[segment.place..<segment.place + segment.count]
            only?.place = 0
        }
        for block in blocks.indices {
            for index in (block == 0 ? taken : 0)..<blocks[block].count {
                let segment = blocks[block][index]
                blocks[block][index].place = kept.count
                kept += bytes[segment.place..<segment.place + segment.count]
            }
        }
        bytes = kept
    }

    /// Moves all offsets.
    mutating func shift(by distance: Int) {
        only?.start += distance
        for block in blocks.indices {
            for index in blocks[block].indices { blocks[block][index].start += distance }
        }
    }

    /// Copies those bytes of a payload that are not held yet.
    ///
    /// - Parameters:
    ///   - payload: the bytes.
    ///   - start: the stream offset of the first.
    ///   - policy: which copy wins where bytes are already held.
    ///   - overlap: called with each range of the payload that was already held, and with the held bytes.
    mutating func insert(
        _ payload: RawSpan, at start: Int, time: Timestamp, packet: Int, policy: OverlapPolicy,
        overlap: (_ range: Range<Int>, _ held: RawSpan) -> Void
    ) {
        compact()
        if let segment = only {
            blocks = [[segment]]
            only = nil
        }
        var cursor = 0
        while cursor < payload.byteCount {
            let (block, index) = position(of: start + cursor)
            guard block < blocks.count, blocks[block][index].start < start + payload.byteCount else {
                insert(payload.extracting(cursor..<payload.byteCount), start + cursor, time, packet, block, index)
                return
            }
            let next = blocks[block][index].start - start
            if cursor < next {
                insert(payload.extracting(cursor..<next), start + cursor, time, packet, block, index)
                cursor = next
            } else {
                let end = min(payload.byteCount, blocks[block][index].end - start)
                let place = blocks[block][index].place - next
                let held = place + cursor..<place + end
                // A copy: a second reference to all bytes would have them copied when these are overwritten.
                let before = Array(bytes[held])
                overlap(cursor..<end, before.span.bytes)
                if policy == .last { bytes.replaceSubrange(held, with: payload.copied(cursor..<end)) }
                cursor = end
            }
        }
    }

    /// The position of the first segment that ends after `offset`; after the last block if there is none.
    private func position(of offset: Int) -> (block: Int, index: Int) {
        guard let last = blocks.last?.last, offset < last.end else { return (blocks.count, 0) }
        var (low, high) = (0, blocks.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if (blocks[middle].last?.end ?? 0) > offset { high = middle } else { low = middle + 1 }
        }
        let block = low
        (low, high) = (block == 0 ? taken : 0, blocks[block].count - 1)
        while low < high {
            let middle = (low + high) / 2
            if blocks[block][middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return (block, low)
    }

    private mutating func insert(
        _ payload: RawSpan, _ start: Int, _ time: Timestamp, _ packet: Int, _ block: Int, _ index: Int
    ) {
        let segment = HeldSegment(
            start: start, place: bytes.count, count: payload.byteCount, time: time, packet: packet)
        // Most often there is no other.
        if bytes.isEmpty { bytes.reserveCapacity(payload.byteCount) }
        bytes.append(contentsOf: payload)
        count += 1
        byteCount += payload.byteCount
        if blocks.isEmpty {
            only = segment
            return
        }
        var (block, index) = (block, index)
        if block == blocks.count {
            guard let last = blocks.last, last.count < HeldSegments.blockCapacity else {
                blocks.append([segment])
                return
            }
            (block, index) = (block - 1, last.count)
        }
        if block == 0, taken > 0 {
            blocks[0].removeFirst(taken)
            index -= taken
            taken = 0
        }
        if blocks[block].count >= HeldSegments.blockCapacity {
            let half = HeldSegments.blockCapacity / 2
            let upper = Array(blocks[block][half...])
            blocks[block].removeSubrange(half...)
            blocks.insert(upper, at: block + 1)
            if index > half { (block, index) = (block + 1, index - half) }
        }
        blocks[block].insert(segment, at: index)
    }
}
