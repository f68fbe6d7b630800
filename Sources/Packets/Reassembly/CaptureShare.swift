import Streams

/// One of several equal shares of a capture's connections, so that each can be a thread's work: what goes on between the same
/// two hosts is in the same share.
public struct CaptureShare: Hashable, Sendable {
    /// Counts from 0.
    public let index: Int
    /// How many shares there are.
    public let count: Int

    /// A share.
    public init(_ index: Int, of count: Int) {
        (self.index, self.count) = (index, max(1, count))
    }

    /// Whether the connections of two hosts are in it.
    @inline(__always)
    public func contains(_ one: IPAddress, _ other: IPAddress) -> Bool {
        // The same for both directions, and in every thread: no seed. Who writes a capture on purpose can make it slow to read,
        // and could with one large connection, too.
        var sum = one.low &+ other.low
        if !one.isIPv4 { sum &+= one.high &+ other.high }
        let mixed = (sum &* 0x9e37_79b9_7f4a_7c15) >> 33
        return (Int(truncatingIfNeeded: mixed) &* count) >> 31 == index
    }
}

extension ReassemblyOptions {
    /// The same for one of several shares, of which each may take as much memory as all of them count.
    public func taking(_ share: CaptureShare) -> ReassemblyOptions {
        var options = self
        options.share = share
        options.totalReorderingLimit /= share.count
        options.totalConflictHistory /= share.count
        options.closedLimit /= share.count
        options.idleLimit /= share.count
        options.connectionLimit /= share.count
        return options
    }
}
