import Streams

/// The checksum of IP and TCP: the one's complement of the one's complement sum of 16-bit words (RFC 1071).
struct InternetSum {
    private var sum: UInt64 = 0

    /// Adds a 16- or 32-bit number.
    mutating func add(_ number: UInt32) {
        sum += UInt64(number)
    }

    /// Adds bytes that begin at an even offset; an odd last one is padded with a zero.
    mutating func add(_ bytes: RawSpan) {
        var offset = 0
        // Sums of 32-bit words fold to the same as sums of 16-bit words (RFC 1071 section 2 (C)).
        while offset + 4 <= bytes.byteCount {
            sum += UInt64(
                UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self)))
            offset += 4
        }
        var shift: UInt64 = 24
        while offset < bytes.byteCount {
            sum += UInt64(bytes[byte: offset]) << shift
            offset += 1
            shift -= 8
        }
    }

    /// The checksum of what was added.
    var checksum: UInt16 {
        var folded = sum
        while folded > 0xffff { folded = folded & 0xffff + folded >> 16 }
        return ~UInt16(folded)
    }
}
