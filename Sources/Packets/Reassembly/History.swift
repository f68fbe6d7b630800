import Streams

/// The last bytes passed on in a direction, to compare with retransmissions.
///
/// It is kept only if `ReassemblyOptions.conflictHistory` is set: it copies every byte.
struct History {
    /// A ring once it is full: `oldest` is the index of its first byte.
    private var bytes: [UInt8] = []
    private var oldest = 0
    /// The stream offset after the last byte.
    private var end = 0

    /// How many bytes are kept.
    var count: Int { bytes.count }

    /// Keeps bytes that begin at a stream offset, and as many before them as make `limit` in all.
    mutating func add(_ payload: RawSpan, at offset: Int, limit: Int) {
        if offset != end {  // after a gap
            self = History()
        } else if payload.byteCount >= limit {
            bytes.removeAll(keepingCapacity: true)
            oldest = 0
        }
        end = offset + payload.byteCount
        var rest = payload.extracting(max(0, payload.byteCount - limit)..<payload.byteCount)
        let room = min(limit - bytes.count, rest.byteCount)
        if room > 0 {
            bytes.append(contentsOf: rest.extracting(0..<room))
            rest = rest.extracting(room..<rest.byteCount)
        }
        while rest.byteCount > 0 {
            let part = min(limit - oldest, rest.byteCount)
            bytes.overwrite(at: oldest, with: rest.extracting(0..<part))
            oldest = oldest + part < limit ? oldest + part : 0
            rest = rest.extracting(part..<rest.byteCount)
        }
    }

    /// The bytes in a range of stream offsets, which are kept.
    private func kept(_ range: Range<Int>) -> [UInt8] {
        var start = range.lowerBound - (end - bytes.count) + oldest
        if start >= bytes.count { start -= bytes.count }
        let first = min(range.count, bytes.count - start)
        var kept: [UInt8] = []
        kept.reserveCapacity(range.count)
        kept.append(contentsOf: bytes.span.bytes.extracting(start..<start + first))
        kept.append(contentsOf: bytes.span.bytes.extracting(0..<range.count - first))
        return kept
    }

    /// Calls `body` if bytes differ from what was passed on, with what there is from the first to the last byte that differs.
    func compare(_ payload: RawSpan, at offset: Int, _ body: (_ offset: Int, _ kept: RawSpan, _ other: RawSpan) -> Void)
    {
        let start = max(offset, end - bytes.count)
        let stop = min(offset + payload.byteCount, end)
        guard start < stop else { return }
        let bytes = kept(start..<stop)
        let kept = bytes.span.bytes
        let other = payload.extracting(start - offset..<stop - offset)
        guard !kept.elementsEqual(other) else { return }
        var differing = 0..<kept.byteCount
        while !differing.isEmpty, kept[byte: differing.lowerBound] == other[byte: differing.lowerBound] {
            differing = differing.lowerBound + 1..<differing.upperBound
        }
        while !differing.isEmpty, kept[byte: differing.upperBound - 1] == other[byte: differing.upperBound - 1] {
            differing = differing.lowerBound..<differing.upperBound - 1
        }
        body(start + differing.lowerBound, kept.extracting(differing), other.extracting(differing))
    }
}

extension ReassemblyState {
    /// Keeps bytes that are passed on in a direction of the current connection, if configured.
    @inline(__always)
    mutating func record(_ payload: RawSpan, at offset: Int, from direction: Direction) {
        if options.conflictHistory > 0 { keep(payload, at: offset, from: direction) }
    }

    private mutating func keep(_ payload: RawSpan, at offset: Int, from direction: Direction) {
        // All are dropped at the limit: which of them will be needed cannot be known.
        if historyCost > options.totalConflictHistory {
            reachedLimit = true
            histories.removeAll(keepingCapacity: true)
            historyCost = 0
        }
        let place = current * 2 + Int(direction.rawValue)
        while histories.count <= place { histories.append(History()) }
        let before = histories[place].count
        histories[place].add(payload, at: offset, limit: options.conflictHistory)
        historyCost += histories[place].count - before
    }

    /// The bytes last passed on in a direction of the current connection.
    func history(_ direction: Direction) -> History? {
        let place = current * 2 + Int(direction.rawValue)
        return place < histories.count ? histories[place] : nil
    }

    /// Drops the bytes kept for the current connection.
    mutating func forgetHistory() {
        for place in current * 2..<current * 2 + Direction.allCases.count where place < histories.count {
            historyCost -= histories[place].count
            histories[place] = History()
        }
    }
}
