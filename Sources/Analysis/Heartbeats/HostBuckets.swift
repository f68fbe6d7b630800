import Streams
import Trace

/// Pairs of hosts in buckets: analyses limit what they remember of the connections of each bucket.
///
/// Several threads may share a capture, each with its own analyses. All connections of a bucket are decoded by the same thread,
/// so what is left out because of a limit does not depend on how many threads there are. For that, these must be the buckets
/// of `CaptureShare` in `Packets`.
package enum HostBuckets {
    /// How many buckets there are.
    package static let count = 64

    /// The bucket of two hosts.
    package static func bucket(_ one: IPAddress, _ other: IPAddress) -> Int {
        var sum = one.low &+ other.low
        if !one.isIPv4 { sum &+= one.high &+ other.high }
        return Int(truncatingIfNeeded: (sum &* 0x9e37_79b9_7f4a_7c15) >> 58)
    }

    /// The bucket of a connection.
    static func bucket(of connection: TracedConnection) -> Int {
        let opening = connection.opening
        return bucket(opening.client.address, opening.server.address)
    }
}
