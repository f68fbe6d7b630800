import Streams

/// One of several shares of a capture's connections, so that each can be processed by its own thread: all traffic between the
/// same two hosts is in one share.
///
/// Pairs of hosts are hashed into buckets (`HostBuckets`), and each bucket is in one share.
package struct CaptureShare: Hashable, Sendable {
    /// How many shares there are.
    package let count: Int
    /// Its buckets, a bit for each.
    private let own: UInt64

    private init(own: UInt64, of count: Int) {
        (self.own, self.count) = (own, max(1, count))
    }

    /// A share; all have the same number of buckets.
    ///
    /// - Parameter index: which one, from 0.
    package init(_ index: Int, of count: Int) {
        let own = (0..<HostBuckets.count).filter { $0 % max(1, count) == index }
        self.init(own: own.reduce(0) { $0 | 1 << $1 }, of: count)
    }

    /// Shares of equal weight, as nearly as whole buckets allow.
    ///
    /// - Parameter weights: how much work each bucket is.
    package static func balanced(_ weights: [Int], into count: Int) -> [CaptureShare] {
        var own = [UInt64](repeating: 0, count: max(1, count))
        var loads = [Int](repeating: 0, count: own.count)
        // The heaviest first, each to the share with the least so far.
        for bucket in (0..<HostBuckets.count).sorted(by: { (weights[$1], $0) < (weights[$0], $1) }) {
            let lightest = loads.indices.min { (loads[$0], $0) < (loads[$1], $1) } ?? 0
            own[lightest] |= 1 << bucket
            // Buckets of unknown weight are spread, too.
            loads[lightest] += max(1, weights[bucket])
        }
        return own.map { CaptureShare(own: $0, of: count) }
    }

    /// Whether a bucket is in it.
    @inline(__always)
    package func has(_ bucket: Int) -> Bool { own >> UInt64(bucket) & 1 == 1 }

    /// Whether one of several buckets is in it.
    ///
    /// - Parameter buckets: a bit for each.
    @inline(__always)
    func hasAny(of buckets: UInt64) -> Bool { own & buckets != 0 }

    /// Whether the connections of two hosts are in it.
    @inline(__always)
    package func contains(_ one: IPAddress, _ other: IPAddress) -> Bool { has(HostBuckets.bucket(one, other)) }
}

extension ReassemblyOptions {
    /// These options for one of several shares, with memory limits divided among them.
    package func taking(_ share: CaptureShare) -> ReassemblyOptions {
        var options = self
        options.share = share
        options.totalReorderingLimit /= share.count
        options.totalConflictHistory /= share.count
        options.closedLimit /= share.count
        options.lostLimit /= share.count
        options.idleLimit /= share.count
        options.connectionLimit /= share.count
        return options
    }
}
