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
    /// How many bytes the longest has, of a chunk whose records are as short as possible.
    static let longest = 64 << 10

    /// Bits, the first in the lowest bit of the first byte.
    let bytes: [UInt8]

    /// The filter of an index file.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// A filter of hashes.
    init(_ hashes: Set<UInt64>) {
        var bytes = [UInt8](repeating: 0, count: min(max(8, hashes.count * Self.bitsForEach / 8), Self.longest))
        for hash in hashes { Self.forEachBit(of: hash, among: bytes.count) { bytes[$0] |= $1 } }
        self.bytes = bytes
    }

    /// Whether a hash may be among those that were added.
    func mayContain(_ hash: UInt64) -> Bool {
        var missing = bytes.isEmpty
        Self.forEachBit(of: hash, among: bytes.count) { missing = missing || bytes[$0] & $1 == 0 }
        return !missing
    }

    private static func forEachBit(of hash: UInt64, among count: Int, _ take: (_ byte: Int, _ mask: UInt8) -> Void) {
        guard count > 0 else { return }
        let step = hash >> 32 | 1
        for probe in 0..<probes {
            let bit = (hash & 0xffff_ffff &+ probe &* step) % UInt64(8 * count)
            take(Int(bit / 8), 1 << UInt8(bit % 8))
        }
    }
}
