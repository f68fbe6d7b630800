/// Pairs of hosts in buckets: all connections of two hosts are in the same one.
///
/// Several threads may share a capture, each with whole buckets of its connections. Limits that hold for each bucket, such as
/// those of what analyses remember, therefore do not depend on how many threads there are.
@usableFromInline
package enum HostBuckets {
    /// How many buckets there are.
    package static let count = 64

    /// The bucket of two hosts, from 0; the same for both directions.
    @inlinable
    @inline(__always)
    package static func bucket(_ one: IPAddress, _ other: IPAddress) -> Int {
        // The same in every thread: no seed. A crafted capture can be slow to read, but so can one with a single large connection.
        var sum = one.low &+ other.low
        if !one.isIPv4 || !other.isIPv4 { sum = highAndLow(one.unmapped) &+ highAndLow(other.unmapped) }
        return Int(truncatingIfNeeded: (sum &* 0x9e37_79b9_7f4a_7c15) >> 58)
    }

    /// IPv4-mapped addresses are unmapped before: connections are known by the addresses that they represent.
    @usableFromInline
    static func highAndLow(_ address: IPAddress) -> UInt64 { address.high &+ address.low }
}
