import Analysis
import Streams

/// How long round trips took, by the types of request and answer.
struct RoundTripTable: Sendable {
    struct Pair: Hashable, Sendable {
        var format: String
        var request: String
        var answer: String
        var from: Direction
    }

    private let most: Int
    private(set) var pairs: [Pair: TimeHistogram] = [:]

    /// - Parameter most: the largest number of pairs of types that are counted separately.
    init(most: Int) { self.most = most }

    /// Counts a round trip.
    mutating func add(_ trip: RoundTripMonitor.RoundTrip) {
        let pair = Pair(
            format: trip.format, request: trip.request ?? "-", answer: trip.answer ?? "-", from: trip.from)
        guard pairs[pair] != nil || pairs.count < most else { return }
        pairs[pair, default: TimeHistogram()].add(trip.time.nanoseconds)
    }
}

/// TCP's round trips on a connection.
struct TCPTimes: Sendable {
    var handshake = TimeHistogram()
    var acknowledged = PerDirection(fromClient: TimeHistogram(), fromServer: TimeHistogram())

    init(_ times: TCPRoundTrips.Times) {
        if let time = times.handshake { handshake.add(time.nanoseconds) }
        for direction in Direction.allCases {
            for (time, count) in times.acknowledgments[direction].recorded {
                acknowledged[direction].add(time.nanoseconds, count)
            }
        }
    }
}
