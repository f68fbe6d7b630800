import Crypto
import Streams

/// A checksum of the format language: a sum of bytes, a hash, or a CRC by its catalogue name.
///
///     sum8  sum16  sum32  xor8                         sums of the bytes, truncated to that many bits
///     internet                                         RFC 1071: the complement of the sum of 16-bit words
///     fletcher-16  adler-32                            RFC 1146 appendix I with modulus 255; RFC 1950 section 8.2
///     sha-256d                                         the first four bytes of SHA-256 of SHA-256, as Bitcoin has them
///     md5  sha-1  sha-256  sha-512                     hashes, or as many of their first bytes as the field has
///     hmac-md5  hmac-sha-1  hmac-sha-256  hmac-sha-512 HMAC (RFC 2104) with a key of the user's
///     CRC-16/MODBUS  CRC-32/ISO-HDLC  crc32  x-25      https://reveng.sourceforge.io/crc-catalogue/
///
/// Names are case-insensitive.
package struct Checksum: Sendable, Hashable {
    /// The name: for a CRC the catalogue's, even if it was looked up by an alias.
    package let name: String
    /// How many bytes the value takes in a frame.
    package let byteCount: Int
    private let algorithm: Algorithm

    private enum Algorithm: Sendable {
        case sum
        case xor
        case internet
        /// Two running sums, the second one of the first.
        case doubleSum(modulus: UInt64, start: UInt64, width: UInt64)
        case doubleHash
        case digest(Digest, isKeyed: Bool)
        case crc(CRC, table: [UInt32])
    }

    /// The hash, if it is one; nil if its value is a number.
    var digest: Digest? { if case .digest(let digest, _) = algorithm { digest } else { nil } }

    /// Whether it needs a key.
    var isKeyed: Bool { if case .digest(_, let isKeyed) = algorithm { isKeyed } else { false } }

    /// The checksum of that name or alias; nil if there is none.
    package static func named(_ name: String) -> Checksum? { byName[name.lowercased()] }

    /// Every name, aliases last.
    package static var names: [String] {
        sums.map(\.name) + ChecksumCatalogue.checks.map(\.name) + ChecksumCatalogue.aliases.map(\.alias)
    }

    /// The checksum of bytes, in the lowest `byteCount` bytes of the result; 0 for hashes.
    package func value(of bytes: RawSpan) -> UInt64 {
        switch algorithm {
        case .sum:
            let sum = bytes.withUnsafeBytes { $0.reduce(0 as UInt64) { $0 &+ UInt64($1) } }
            return sum & (1 << UInt64(8 * byteCount) - 1)
        case .xor: return bytes.withUnsafeBytes { $0.reduce(0) { $0 ^ UInt64($1) } }
        case .internet: return Self.internet(bytes)
        case .doubleSum(let modulus, let start, let width):
            var (low, high) = (start, 0 as UInt64)
            for index in 0..<bytes.byteCount {
                low = (low + UInt64(bytes[byte: index])) % modulus
                high = (high + low) % modulus
            }
            return high << width | low
        case .doubleHash:
            let hash = bytes.withUnsafeBytes { raw in
                var first = SHA256()
                first.update(bufferPointer: raw)
                var second = SHA256()
                first.finalize().withUnsafeBytes { second.update(bufferPointer: $0) }
                return second.finalize()
            }
            return hash.prefix(4).reduce(0) { $0 << 8 | UInt64($1) }
        case .digest: return 0
        case .crc(let crc, let table): return UInt64(crc.value(of: bytes, table: table))
        }
    }

    /// A last odd byte counts as if a zero followed it.
    private static func internet(_ bytes: RawSpan) -> UInt64 {
        var sum: UInt64 = 0
        for index in 0..<bytes.byteCount { sum &+= UInt64(bytes[byte: index]) << (index % 2 == 0 ? 8 : 0) }
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        return ~sum & 0xffff
    }

    /// Whether two checksums are the same; the name is enough.
    package static func == (left: Checksum, right: Checksum) -> Bool { left.name == right.name }

    /// Hashes the name.
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    private static let sums =
        [
            Checksum(name: "sum8", byteCount: 1, algorithm: .sum),
            Checksum(name: "sum16", byteCount: 2, algorithm: .sum),
            Checksum(name: "sum32", byteCount: 4, algorithm: .sum),
            Checksum(name: "xor8", byteCount: 1, algorithm: .xor),
            Checksum(name: "internet", byteCount: 2, algorithm: .internet),
            Checksum(name: "fletcher-16", byteCount: 2, algorithm: .doubleSum(modulus: 255, start: 0, width: 8)),
            Checksum(name: "adler-32", byteCount: 4, algorithm: .doubleSum(modulus: 65_521, start: 1, width: 16)),
            Checksum(name: "sha-256d", byteCount: 4, algorithm: .doubleHash),
        ]
        + [false, true].flatMap { isKeyed in
            Digest.allCases.map { digest in
                Checksum(
                    name: isKeyed ? "hmac-" + digest.rawValue : digest.rawValue, byteCount: digest.byteCount,
                    algorithm: .digest(digest, isKeyed: isKeyed))
            }
        }

    private static let byName: [String: Checksum] = {
        var found: [String: Checksum] = [:]
        for sum in sums { found[sum.name] = sum }
        for (name, crc) in ChecksumCatalogue.checks {
            found[name.lowercased()] = Checksum(
                name: name, byteCount: crc.width / 8, algorithm: .crc(crc, table: crc.table()))
        }
        for (alias, name) in ChecksumCatalogue.aliases { found[alias.lowercased()] = found[name.lowercased()] }
        return found
    }()
}
