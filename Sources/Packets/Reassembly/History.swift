import Streams

/// The last bytes passed on in a direction, to compare with retransmissions.
///
/// It is kept only if `ReassemblyOptions.conflictHistory` is set: it copies every byte.
final class History {
    private var bytes: [UInt8] = []
    /// The stream offset after the last byte.
    private var end = 0

    /// How many bytes are kept.
    var count: Int { bytes.count }

    /// Keeps bytes that begin at a stream offset, and as many before them as `limit` allows.
    func add(_ payload: RawSpan, at offset: Int, limit: Int) {
        if offset != end { bytes.removeAll(keepingCapacity: true) }  // after a gap
        bytes.append(contentsOf: payload)
        end = offset + payload.byteCount
        if bytes.count > 2 * limit { bytes.removeFirst(bytes.count - limit) }
    }

    /// Calls `body` if bytes differ from what was passed on, with what there is from the first to the last byte that differs.
    func compare(_ payload: RawSpan, at offset: Int, _ body: (_ offset: Int, _ kept: RawSpan, _ other: RawSpan) -> Void)
    {
        let start = max(offset, end - bytes.count)
        let stop = min(offset + payload.byteCount, end)
        guard start < stop else { return }
        let bytes = bytes
        let kept = bytes.span.bytes.extracting(start - (end - bytes.count)..<stop - (end - bytes.count))
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
    /// Keeps bytes that are passed on, if configured.
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
        while histories.count <= place { histories.append(nil) }
        let history: History
        if let known = histories[place] {
            history = known
        } else {
            history = History()
            histories[place] = history
        }
        let before = history.count
        history.add(payload, at: offset, limit: options.conflictHistory)
        historyCost += history.count - before
    }

    /// The bytes last passed on in a direction of the current connection.
    func history(_ direction: Direction) -> History? {
        let place = current * 2 + Int(direction.rawValue)
        return place < histories.count ? histories[place] : nil
    }

    /// Drops the bytes kept for the current connection.
    mutating func forgetHistory() {
        for place in current * 2..<current * 2 + Direction.allCases.count where place < histories.count {
            historyCost -= histories[place]?.count ?? 0
            histories[place] = nil
        }
    }
}
