import DequeModule
import Streams

/// Data that a stage emitted in one direction and that is not due yet, in the order in which it passes.
struct EmissionQueue: Sendable {
    enum Content: Hashable, Sendable {
        case bytes([UInt8], cause: String?)
        case cut(report: ActionReport?)
        case end(Ending)

        var byteCount: Int { if case .bytes(let bytes, _) = self { bytes.count } else { 0 } }
    }

    struct Emission: Sendable {
        var content: Content
        /// When it passes.
        var due: Timestamp
        /// When it was emitted.
        var since: Timestamp
    }

    private var emissions: Deque<Emission> = []
    /// Whether each entry is due no earlier than the one before it.
    private var isSorted = true
    /// How many bytes are queued.
    private(set) var byteCount = 0

    /// Whether there is nothing in it.
    var isEmpty: Bool { emissions.isEmpty }

    /// The entry that passes next.
    var first: Emission? { emissions.first }

    /// Where the next bytes are appended: nothing passes after an end.
    private var end: Int {
        var end = emissions.endIndex
        while end > emissions.startIndex, case .end = emissions[end - 1].content { end -= 1 }
        return end
    }

    /// Appends bytes after the others, or an end: they pass when they are due and everything before them has passed.
    mutating func append(_ content: Content, due: Timestamp, at now: Timestamp) {
        byteCount += content.byteCount
        if let last = emissions.last, last.due > due { isSorted = false }
        let place = if case .end = content { emissions.endIndex } else { end }
        emissions.insert(Emission(content: content, due: due, since: now), at: place)
    }

    /// Appends a cut directly after the last bytes.
    mutating func cut(_ report: ActionReport?, at now: Timestamp) {
        emissions.insert(Emission(content: .cut(report: report), due: now, since: now), at: end)
    }

    /// Inserts bytes before those that are due later.
    mutating func insert(_ content: Content, due: Timestamp, at now: Timestamp) {
        byteCount += content.byteCount
        let place = min(placeOfFirst(dueAfter: due), end)
        // They must not keep what they overtake any longer than that may be held.
        let since = place < emissions.endIndex ? min(now, emissions[place].since) : now
        emissions.insert(Emission(content: content, due: due, since: since), at: place)
    }

    private func placeOfFirst(dueAfter due: Timestamp) -> Int {
        guard isSorted else { return emissions.firstIndex { $0.due > due } ?? emissions.endIndex }
        var (low, high) = (emissions.startIndex, emissions.endIndex)
        while low < high {
            let middle = (low + high) / 2
            if emissions[middle].due > due { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Removes the first entry.
    mutating func popFirst() -> Emission? {
        guard let first = emissions.popFirst() else { return nil }
        if emissions.isEmpty { isSorted = true }
        byteCount -= first.content.byteCount
        return first
    }

    /// Drops everything.
    ///
    /// - Returns: how many bytes were dropped.
    mutating func removeAll() -> Int {
        defer { (emissions, byteCount) = ([], 0) }
        return byteCount
    }
}
