import DequeModule

/// Which of many connections are ready for their next event. Others are packed (`ConnectionPlaces`): those in which nothing happens soon
/// after their last event, once there are many.
package struct AwakeConnections {
    /// A connection that is awake.
    package struct Entry {
        // Half as wide as elsewhere: there are many.
        fileprivate let shortID: UInt32
        fileprivate let shortNumber: UInt32
        /// How many segments it had when it was last looked at; wraps around.
        fileprivate let segments: UInt32

        /// A connection.
        ///
        /// - Parameter number: distinguishes it from others that have had its id.
        package init(_ id: Int, number: Int, segments: UInt32) {
            (shortID, shortNumber) = (UInt32(truncatingIfNeeded: id), UInt32(truncatingIfNeeded: number))
            self.segments = segments
        }

        fileprivate var id: Int { Int(shortID) }
    }

    /// Those of which it is not known yet whether more will happen soon: few, so that they are still in the processor's caches when
    /// they are packed.
    fileprivate var recent = Deque<Entry>()
    /// The others, some of which are over.
    fileprivate var kept = Deque<Entry>()
    fileprivate let limit: Int
    fileprivate let mostRecent: Int

    /// None yet.
    ///
    /// - Parameter limit: how many there may be, besides the recent ones, before others are packed. Those that cannot be packed count.
    package init(limit: Int) {
        self.limit = limit
        // The last one is at work.
        mostRecent = max(1, min(limit, 256))
    }

    /// How many are remembered, some of which are over.
    package var count: Int { recent.count + kept.count }

    // What a table calls is `mutating` even where it changes nothing: through its protocol, anything else would be called on a copy.

    /// Adds a connection to the recent ones; returns the first of them if there are too many.
    fileprivate mutating func add(_ entry: Entry) -> Entry? {
        recent.append(entry)
        return recent.count > mostRecent ? recent.popFirst() : nil
    }

    /// Adds a connection to the others.
    fileprivate mutating func keep(_ entry: Entry) { kept.append(entry) }

    /// Whether the limit is reached.
    fileprivate mutating func isFull() -> Bool { kept.count >= limit }

    /// Removes the first of the others, if the limit is reached.
    fileprivate mutating func takeFirstIfFull() -> Entry? { isFull() ? kept.popFirst() : nil }

    /// Usually, as many connections are awake: together they take about 15 MB.
    package static let usualLimit = 1 << 14
}

/// A table of connections, some of which are packed.
package protocol ConnectionTable: ~Copyable {
    /// Those that are not.
    var awake: AwakeConnections { get set }

    /// A connection; nil if it is packed, or over.
    func awakeConnection(_ id: Int) -> AwakeConnections.Entry?

    /// Packs a connection; returns false if it has to stay as it is.
    mutating func rest(_ id: Int) -> Bool
}

extension ConnectionTable where Self: ~Copyable {
    /// Something happens to a connection that was packed, or opens.
    package mutating func watch(_ id: Int) {
        guard let entry = awakeConnection(id) else { return }
        guard let oldest = awake.add(entry), let now = awakeConnection(oldest.id),
            now.shortNumber == oldest.shortNumber
        else { return }
        // The event for which it is awake may be counted after that.
        let isBusy = now.segments &- oldest.segments > 1
        if !makeRoom(byForce: isBusy), !isBusy, rest(now.id) { return }
        awake.keep(now)
    }

    /// Whether another connection may be awake. Those that are over make room.
    ///
    /// - Parameter byForce: whether one in which nothing has happened for long is packed for it.
    private mutating func makeRoom(byForce: Bool) -> Bool {
        // More than one for each that is added: there are too many after a time when most could not be packed.
        var looks = 2
        while looks > 0, let first = awake.takeFirstIfFull() {
            looks -= 1
            guard let now = awakeConnection(first.id), now.shortNumber == first.shortNumber else { continue }
            let mayRest = byForce || awake.isFull()
            if mayRest, now.segments == first.segments, rest(now.id) { continue }
            awake.keep(mayRest ? now : first)
        }
        return !awake.isFull()
    }
}
