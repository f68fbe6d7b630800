import Streams

/// A Bloom filter: which connections and hosts a chunk of an index may have, in about ten bits for each.
///
/// What was added is always found; of what was not, about one in a hundred is. A capture can be crafted so that more are: then more of the
/// index is read.
///
/// Source: B. Bloom, "Space/Time Trade-offs in Hash Coding with Allowable Errors", 1970; two hashes instead of seven: A. Kirsch and
/// M. Mitzenmacher, "Less Hashing, Same Performance", 2006.
package struct IndexFilter: Hashable, Sendable {
    private static let bitsForEach = 10
    private static let probes: UInt64 = 7
    /// The longest filter that is read, in bytes; those that are written are much shorter.
    static let longest = 64 << 10

    /// Bits, the first in the lowest bit of the first byte.
    let bytes: [UInt8]

    /// The filter of an index file.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// A filter of hashes.
    init(_ hashes: Set<UInt64>) {
        var bytes = [UInt8](repeating: 0, count: min(max(8, hashes.count * Self.bitsForEach / 8), Self.longest))
        for hash in hashes {
            for probe in 0..<Self.probes {
                let bit = Self.bit(probe, of: hash, among: bytes.count)
                bytes[bit >> 3] |= 1 << UInt8(bit & 7)
            }
        }
        self.bytes = bytes
    }

    /// Whether a hash may be among those that were added.
    func mayContain(_ hash: UInt64) -> Bool {
        guard !bytes.isEmpty else { return false }
        for probe in 0..<Self.probes {
            let bit = Self.bit(probe, of: hash, among: bytes.count)
            if bytes[bit >> 3] >> UInt8(bit & 7) & 1 == 0 { return false }
        }
        return true
    }

    /// A bit of a hash among those of at least one byte.
    private static func bit(_ probe: UInt64, of hash: UInt64, among count: Int) -> Int {
        Int((hash & 0xffff_ffff &+ probe &* (hash >> 32 | 1)) % UInt64(8 * count))
    }
}
