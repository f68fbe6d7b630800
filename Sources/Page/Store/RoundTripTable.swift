import Analysis
import Streams

/// How long round trips took, by the types of request and answer.
struct RoundTripTable: Sendable {
    struct Pair: Hashable, Sendable {
        var format: String
        /// The numbers of the types; see `NameTable`. 0 for a frame without one.
        var request: UInt32
        var answer: UInt32
        var from: Direction
    }

    private let most: Int
    private(set) var pairs: [Pair: TimeHistogram] = [:]

    /// - Parameter most: the largest number of pairs of types that are counted separately.
    init(most: Int) { self.most = most }

    /// Counts a round trip.
    mutating func add(_ trip: StoredTrip) {
        guard pairs[trip.pair] != nil || pairs.count < most else { return }
        pairs[trip.pair, default: TimeHistogram()].add(trip.time)
    }
}

/// A round trip whose names are numbers.
struct StoredTrip: Sendable {
    var connection: Int
    var pair: RoundTripTable.Pair
    /// In nanoseconds.
    var time: Int64
}

/// TCP's round trips, on a connection or on all of them.
struct TCPTimes: Sendable {
    var handshake = TimeHistogram()
    /// By the sender of the bytes that were acknowledged.
    var acknowledged = PerDirection(fromClient: TimeHistogram(), fromServer: TimeHistogram())

    init(_ times: TCPRoundTrips.Times) {
        if let time = times.handshake { handshake.add(time.nanoseconds) }
        for direction in Direction.allCases {
            for (time, count) in times.acknowledgments[direction].recorded {
                acknowledged[direction].add(time.nanoseconds, count)
            }
        }
    }

    /// Adds those of another connection.
    mutating func add(_ other: TCPTimes) {
        handshake.add(other.handshake)
        for direction in Direction.allCases { acknowledged[direction].add(other.acknowledged[direction]) }
    }
}
