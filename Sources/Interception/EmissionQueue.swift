import DequeModule
import Streams

/// Data that a stage emitted in one direction and that is not due yet, in the order in which it passes.
struct EmissionQueue: Sendable {
    enum Content: Hashable, Sendable {
        case bytes([UInt8], cause: String?)
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
    /// How many bytes are queued.
    private(set) var byteCount = 0

    /// The entry that passes next.
    var first: Emission? { emissions.first }

    /// Appends bytes or an end after the others; they are due no earlier.
    mutating func append(_ content: Content, due: Timestamp, at now: Timestamp) {
        byteCount += content.byteCount
        emissions.append(Emission(content: content, due: max(due, emissions.last?.due ?? due), since: now))
    }

    /// Inserts bytes before those that are due later.
    mutating func insert(_ content: Content, due: Timestamp, at now: Timestamp) {
        byteCount += content.byteCount
        let place = emissions.firstIndex { $0.due > due } ?? emissions.endIndex
        // Nothing passes after the end.
        let end = emissions.firstIndex { if case .end = $0.content { true } else { false } } ?? emissions.endIndex
        emissions.insert(Emission(content: content, due: due, since: now), at: min(place, end))
    }

    /// Removes the first entry.
    mutating func popFirst() -> Emission? {
        guard let first = emissions.popFirst() else { return nil }
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
