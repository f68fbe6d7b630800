import HeapModule
import Streams

/// Deadlines, of which each key has at most one pending: arming a key again moves its deadline.
///
/// An owner that arms a deadline whenever one fires cannot make them multiply. A deadline that is moved or cancelled leaves a
/// stale entry in the heap; there are never many more of those than of pending ones.
package struct PendingDeadlines<Key: Hashable & Comparable> {
    @usableFromInline
    struct Entry: Comparable {
        @usableFromInline var time: Timestamp
        @usableFromInline var key: Key

        @inlinable
        init(time: Timestamp, key: Key) {
            self.time = time
            self.key = key
        }

        @inlinable
        static func < (left: Entry, right: Entry) -> Bool { (left.time, left.key) < (right.time, right.key) }
    }

    @usableFromInline var times: [Key: Timestamp] = [:]
    @usableFromInline var heap = Heap<Entry>()

    /// No deadlines.
    @inlinable
    package init() {}

    /// How many keys have a deadline.
    @inlinable
    package var count: Int { times.count }

    /// How many entries are kept for them, stale ones included: at most `2 * count + slack`.
    @inlinable
    package var entries: Int { heap.count }

    /// How many stale entries are kept before the heap is built anew.
    @inlinable
    package static var slack: Int { 64 }

    /// The earliest deadline; nil if there is none.
    @inlinable
    package var first: Timestamp? { heap.min?.time }

    /// When a key's deadline is; nil if it has none.
    @inlinable
    package subscript(key: Key) -> Timestamp? { times[key] }

    /// Arms a key's deadline, or moves it.
    @inlinable
    package mutating func arm(_ key: Key, at time: Timestamp) {
        guard times.updateValue(time, forKey: key) != time else { return }
        heap.insert(Entry(time: time, key: key))
        dropStale()
    }

    /// Cancels a key's deadline.
    @inlinable
    package mutating func cancel(_ key: Key) {
        guard times.removeValue(forKey: key) != nil else { return }
        dropStale()
    }

    /// Takes the first deadline before `time`, ordered by time and then by key; nil if there is none.
    @inlinable
    package mutating func popFirst(before time: Timestamp) -> (key: Key, deadline: Timestamp)? {
        guard let entry = heap.min, entry.time < time else { return nil }
        heap.removeMin()
        times[entry.key] = nil
        dropStale()
        return (entry.key, entry.time)
    }

    /// Ensures that the first entry is pending, and that few are stale.
    @inlinable
    mutating func dropStale() {
        while let entry = heap.min, times[entry.key] != entry.time { heap.removeMin() }
        guard heap.count > 2 * times.count + Self.slack else { return }
        heap = Heap(times.map { Entry(time: $0.value, key: $0.key) })
    }
}
