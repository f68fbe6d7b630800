import Streams

/// Whether a host counts the packets of a connection in their IPv4 identification field, and so reveals how many were not captured.
///
/// RFC 6864 section 4.1 leaves the field of packets that are never fragmented to the sender. Linux counts the packets of each
/// connection in it; others send zeros, random numbers, or count what they send to all.
struct PacketCount {
    /// How many consecutive packets must be counted.
    private static let fewest: UInt8 = 5
    /// More uncaptured packets than this are not treated as a count.
    private static let most: UInt16 = 1_000

    private var last: UInt16 = 0
    private var run: UInt8 = 0

    /// Takes the identification of the next packet.
    ///
    /// - Returns: how many packets sent before it were not captured; nil if the host is not known to count.
    @inline(__always)
    mutating func take(_ identification: UInt16) -> UInt16? {
        let skipped = identification &- last &- 1
        last = identification
        if skipped == 0 {
            run = run == .max ? run : run &+ 1
            return run >= Self.fewest ? 0 : nil
        }
        return takeSkipping(skipped)
    }

    /// Packs or unpacks it.
    mutating func pass(through numbers: inout PackedNumbers) {
        numbers.pass(&last)
        numbers.pass(&run)
    }

    private mutating func takeSkipping(_ skipped: UInt16) -> UInt16? {
        // From here on, it must show again that it counts.
        let counted = run >= Self.fewest && skipped <= Self.most
        run = 0
        return counted ? skipped : nil
    }
}
