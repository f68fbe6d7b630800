import DequeModule
import Streams

/// Connections to revisit later. All entries of one queue wait equally long, so they are in chronological order.
struct DeadlineQueue {
    /// A connection to revisit, if it is still the one with this number.
    struct Entry {
        let time: Timestamp
        // Half as wide as elsewhere: every connection has several.
        private let place: UInt32
        private let lowNumber: UInt32

        init(time: Timestamp, flow: Int, number: Int) {
            self.time = time
            (place, lowNumber) = (UInt32(truncatingIfNeeded: flow), UInt32(truncatingIfNeeded: number))
        }

        /// The connection's id in the table.
        var flow: Int { Int(place) }

        /// Whether it is the connection with this number. No two connections 2³² apart are remembered at the same time.
        func hasNumber(_ number: Int) -> Bool { UInt32(truncatingIfNeeded: number) == lowNumber }
    }

    private var entries = Deque<Entry>()

    /// How many there are.
    var count: Int { entries.count }
    /// The time of the first, or the distant future.
    var first: Timestamp { entries.first?.time ?? Timestamp(nanoseconds: .max) }

    /// Adds a deadline that is not before the others.
    mutating func append(_ entry: Entry) { entries.append(entry) }

    /// Keeps only some.
    mutating func keep(_ isKept: (Entry) -> Bool) { entries = Deque(entries.filter(isKept)) }

    /// Takes the first, if it is due.
    mutating func popFirst(until now: Timestamp) -> Entry? {
        first <= now ? entries.popFirst() : nil
    }
}
