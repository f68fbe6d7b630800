import DequeModule

/// Which of many connections have receivers that are ready for their next event. The receivers of others are asked to become dormant
/// (`ConnectionReceiver.dormant`): those in which nothing happens soon after their last event, once there are many.
package struct AwakePlaces {
    /// A connection that is awake.
    package struct Entry {
        // Half as wide as elsewhere: there are many.
        fileprivate let shortPlace: UInt32
        fileprivate let shortNumber: UInt32
        /// How many segments it had when it was last looked at; wraps around.
        fileprivate let segments: UInt32

        /// A connection at a place.
        ///
        /// - Parameter number: distinguishes it from others that have been at its place.
        package init(_ place: Int, number: Int, segments: UInt32) {
            (shortPlace, shortNumber) = (UInt32(truncatingIfNeeded: place), UInt32(truncatingIfNeeded: number))
            self.segments = segments
        }

        fileprivate var place: Int { Int(shortPlace) }
    }

    /// Those of which it is not known yet whether more will happen soon: few, so that they are still in the processor's caches when
    /// they are asked to become dormant.
    fileprivate var recent = Deque<Entry>()
    /// The others, some of which are over.
    fileprivate var kept = Deque<Entry>()
    fileprivate let limit: Int
    fileprivate let mostRecent: Int

    /// None yet.
    ///
    /// - Parameter limit: how many there may be, besides the recent ones and those that cannot become dormant, before others have to.
    package init(limit: Int) {
        self.limit = limit
        // The last one is at work.
        mostRecent = max(1, min(limit, 256))
    }

    /// How many are remembered, some of which are over.
    package var count: Int { recent.count + kept.count }

    /// Usually, as many connections are awake: together they take about 15 MB.
    package static let usualLimit = 1 << 14
}

/// A table of connections, whose receivers may be dormant.
package protocol ReceiverTable: ~Copyable {
    /// Those that are not.
    var awake: AwakePlaces { get set }

    /// The connection at a place; nil if it is dormant, or over.
    func awakeConnection(at place: Int) -> AwakePlaces.Entry?

    /// Makes the receiver of a connection dormant; returns false if it has to stay as it is.
    mutating func rest(at place: Int) -> Bool
}

extension ReceiverTable where Self: ~Copyable {
    /// Something happens to a connection that was dormant, or opens.
    package mutating func watch(_ place: Int) {
        guard let entry = awakeConnection(at: place) else { return }
        awake.recent.append(entry)
        guard awake.recent.count > awake.mostRecent, let oldest = awake.recent.popFirst(),
            let now = awakeConnection(at: oldest.place), now.shortNumber == oldest.shortNumber
        else { return }
        // The event for which it is awake may be counted after that.
        let isBusy = now.segments &- oldest.segments > 1
        if !makeRoom(byForce: isBusy), !isBusy, rest(at: now.place) { return }
        awake.kept.append(now)
    }

    /// Whether another connection may be awake. Those that are over make room.
    ///
    /// - Parameter byForce: whether one in which nothing has happened for long becomes dormant for it.
    private mutating func makeRoom(byForce: Bool) -> Bool {
        // More than one for each that is added: there are too many after a time when most could not become dormant.
        var looks = 2
        while awake.kept.count >= awake.limit, looks > 0, let first = awake.kept.popFirst() {
            looks -= 1
            guard let now = awakeConnection(at: first.place), now.shortNumber == first.shortNumber else { continue }
            let mayRest = byForce || awake.kept.count >= awake.limit
            if mayRest, now.segments == first.segments, rest(at: now.place) { continue }
            awake.kept.append(mayRest ? now : first)
        }
        return awake.kept.count < awake.limit
    }
}
