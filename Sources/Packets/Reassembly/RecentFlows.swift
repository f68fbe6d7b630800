import Streams

/// The connections that had a segment lately, by the two ends of a segment in IPv4: a table of fixed size, one entry for each direction,
/// that saves a search in the table of all. A new entry replaces the one at its index; what is not found here is searched for there.
struct RecentFlows {
    /// Where a connection was.
    struct Entry {
        fileprivate var addresses: UInt64 = 0
        fileprivate var ports: UInt32 = 0
        /// Its place in the table; negative if the entry is empty.
        fileprivate var shortPlace: Int32 = -1
        fileprivate var shortID: Int32 = 0
        /// The connection's number, and the direction: another may be at its place by now.
        fileprivate var numberAndDirection: UInt32 = 0

        /// Its place in the table.
        @inline(__always)
        var place: Int { Int(shortPlace) }

        /// Its id.
        @inline(__always)
        var id: Int { Int(shortID) }

        /// The direction of the segment.
        @inline(__always)
        var direction: Direction { numberAndDirection & 1 == 0 ? .fromClient : .fromServer }

        /// Whether it is a connection of that number.
        @inline(__always)
        func hasNumber(_ number: Int) -> Bool {
            numberAndDirection >> 1 == UInt32(truncatingIfNeeded: number) & 0x7fff_ffff
        }
    }

    /// The ends of a segment.
    struct Ends {
        fileprivate let addresses: UInt64
        fileprivate let ports: UInt32

        /// The ends of a segment in IPv4.
        @inline(__always)
        init(_ source: Endpoint, _ destination: Endpoint) {
            addresses = source.address.low << 32 | destination.address.low & 0xffff_ffff
            ports = UInt32(source.port) << 16 | UInt32(destination.port)
        }

        /// Its entry's index.
        @inline(__always)
        fileprivate var index: Int {
            let mixed = (addresses ^ UInt64(ports) &* 0x9e37_79b9_7f4a_7c15) &* 0xd6e8_feb8_6659_fd93
            return Int(truncatingIfNeeded: mixed >> (64 - UInt64(RecentFlows.bits)))
        }
    }

    private static let bits = 12
    /// Empty until the first connection is noted.
    private var entries: [Entry] = []

    /// Where the connection of a segment was; nil if it is not known.
    @inline(__always)
    func find(_ ends: Ends) -> Entry? {
        let index = ends.index
        guard index < entries.count else { return nil }
        let entry = entries[index]
        return entry.addresses == ends.addresses && entry.ports == ends.ports && entry.shortPlace >= 0 ? entry : nil
    }

    /// Notes where the connection of a segment is.
    ///
    /// - Parameter number: the connection's.
    mutating func note(_ ends: Ends, _ direction: Direction, id: Int, place: Int, number: Int) {
        guard let shortPlace = Int32(exactly: place), let shortID = Int32(exactly: id) else { return }
        if entries.isEmpty { entries = Array(repeating: Entry(), count: 1 << Self.bits) }
        entries[ends.index] = Entry(
            addresses: ends.addresses, ports: ends.ports, shortPlace: shortPlace, shortID: shortID,
            numberAndDirection: UInt32(truncatingIfNeeded: number) << 1 | (direction == .fromClient ? 0 : 1))
    }
}
