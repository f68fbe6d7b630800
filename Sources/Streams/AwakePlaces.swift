import DequeModule

/// Which of many connections have receivers that are ready for their next event: those in which something happened last. The
/// receivers of others are asked to become dormant (`ConnectionReceiver.dormant`).
package struct AwakePlaces {
    /// A connection.
    package struct Entry {
        // Half as wide as elsewhere: there are many.
        private let shortPlace: UInt32
        private let shortNumber: UInt32
        /// How many events it had when it was last looked at; wraps around.
        package let events: UInt32

        /// A connection at a place.
        ///
        /// - Parameter number: distinguishes it from others that have been at its place.
        package init(_ place: Int, number: Int, events: UInt32) {
            (shortPlace, shortNumber) = (UInt32(truncatingIfNeeded: place), UInt32(truncatingIfNeeded: number))
            self.events = events
        }

        /// Where it is.
        package var place: Int { Int(shortPlace) }

        /// Whether it is the connection with this number.
        package func isOf(_ number: Int) -> Bool { UInt32(truncatingIfNeeded: number) == shortNumber }
    }

    private var entries = Deque<Entry>()
    private let limit: Int

    /// None yet.
    ///
    /// - Parameter limit: how many there may be before some are to become dormant.
    package init(limit: Int) { self.limit = limit }

    /// How many are ready unless told otherwise: a million dormant ones take more memory than these.
    package static let usualLimit = 1 << 14

    /// Adds a connection.
    package mutating func add(_ entry: Entry) { entries.append(entry) }

    /// Takes out those that were added first, if there are too many: two at once, so that those that are over by now do not pile
    /// up. Add the ones that stay awake again.
    package mutating func takeOldest() -> (Entry?, Entry?) {
        guard entries.count > limit else { return (nil, nil) }
        return (entries.popFirst(), entries.count > limit ? entries.popFirst() : nil)
    }
}
