import Streams

/// The two ends of a connection in an order that does not depend on who sends: the same for packets of both directions.
///
/// Something that has no ports has the ports 0.
package struct ConnectionEnds: Hashable, Sendable {
    /// The lower end.
    package let lower: Endpoint
    /// The upper end.
    package let upper: Endpoint

    /// The ends of a packet. IPv4-mapped addresses are the IPv4 addresses that they represent.
    package init(_ source: Endpoint, _ destination: Endpoint) {
        self.init(unmapped: source.unmapped, destination.unmapped)
    }

    /// The ends of a packet whose addresses are not IPv4-mapped.
    @inline(__always)
    init(unmapped source: Endpoint, _ destination: Endpoint) {
        (lower, upper) = Self.precedes(source, destination) ? (source, destination) : (destination, source)
    }

    /// Two hosts.
    package init(between source: IPAddress, _ destination: IPAddress) {
        self.init(Endpoint(source, 0), Endpoint(destination, 0))
    }

    private static func precedes(_ left: Endpoint, _ right: Endpoint) -> Bool {
        if left.address.high != right.address.high { return left.address.high < right.address.high }
        if left.address.low != right.address.low { return left.address.low < right.address.low }
        return left.port <= right.port
    }
}

extension ConnectionEnds {
    /// Which of several shards its packets are in.
    ///
    /// It depends on the ends alone: shards of different files, made by different machines, fit together. A capture can be crafted
    /// whose packets are all in one shard, but so can one with a single connection.
    ///
    /// - Parameter count: how many shards there are, at least 1.
    package func shard(of count: Int) -> Int {
        Int(truncatingIfNeeded: hash.multipliedFullWidth(by: UInt64(max(1, count))).high)
    }

    /// A hash of both ends that never changes: shards and indexes have it.
    var hash: UInt64 { Self.mix(Self.mixed(lower) &+ 0x9e37_79b9_7f4a_7c15 &* Self.mixed(upper)) }

    /// A hash of a host that never changes.
    static func hash(of host: IPAddress) -> UInt64 { mix(mix(host.high ^ 0xe703_7ed1_a0b4_28db) &+ host.low) }

    private static func mixed(_ end: Endpoint) -> UInt64 { hash(of: end.address) ^ mix(UInt64(end.port) &+ 1) }

    /// Spreads bits over all 64 (the finalizer of SplitMix64).
    private static func mix(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}
