import DequeModule
import Streams

/// Connections that are over, for as long as a finding may be about them.
struct RecentConnections {
    private var known: [Int: (key: [UInt8], isFinal: Bool)] = [:]
    private var order: Deque<(number: Int, opened: Timestamp)> = []

    /// A client that reconnects again and again is found this long after the last reconnect, at most, and some more.
    private static let patience = Interval.seconds(10)
    /// How many are remembered.
    private static let most = 1 << 16

    /// A connection is over.
    mutating func add(_ number: Int, _ key: [UInt8], isFinal: Bool, at opened: Timestamp) {
        known[number] = (key, isFinal)
        order.append((number, opened))
        while let first = order.first, order.count > Self.most || first.opened + Self.patience < opened {
            known[first.number] = nil
            order.removeFirst()
        }
    }

    /// What is known of a connection; nil if it is forgotten.
    subscript(number: Int) -> (key: [UInt8], isFinal: Bool)? { known[number] }
}
