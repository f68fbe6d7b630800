import Streams

/// The constant bytes of a header, if all of them are among its first eight, which are compared at once.
///
/// Two numbers and no more: loops over frames that are only counted hold it in registers.
struct PlainConstants: Sendable {
    /// Which bits are constant, those of the first byte in the lowest bits, and what they are.
    private let (mask, pattern): (UInt64, UInt64)

    /// Constants, each with its place in the header; nil if one is after the first eight bytes.
    init?(_ bytes: [(offset: Int, byte: UInt8)]) {
        var (mask, pattern): (UInt64, UInt64) = (0, 0)
        for (offset, byte) in bytes {
            guard offset < 8 else { return nil }
            mask |= 0xff << UInt64(8 * offset)
            pattern |= UInt64(byte) << UInt64(8 * offset)
        }
        (self.mask, self.pattern) = (mask, pattern)
    }

    /// Whether a header at an index of the bytes, which contain it, has the constants.
    @inline(__always)
    func match(_ bytes: RawSpan, at start: Int) -> Bool {
        if mask == 0 { return true }
        guard start &+ 8 <= bytes.byteCount else { return matchAtEnd(bytes, start) }
        return UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self)) & mask
            == pattern
    }

    /// Whether what there is of a header has the constants.
    func match(beginning bytes: RawSpan) -> Bool {
        if mask == 0 { return true }
        let available = min(bytes.byteCount, 8)
        let mask = available == 8 ? mask : mask & ((1 << UInt64(8 * available)) - 1)
        return word(bytes, 0) & mask == pattern & mask
    }

    /// The same where fewer than eight bytes are available.
    @inline(never)
    private func matchAtEnd(_ bytes: RawSpan, _ start: Int) -> Bool { word(bytes, start) & mask == pattern }

    /// Up to eight bytes from an index, the first in the lowest bits.
    private func word(_ bytes: RawSpan, _ start: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in start..<min(start + 8, bytes.byteCount) {
            word |= UInt64(bytes[byte: index]) << UInt64(8 * (index - start))
        }
        return word
    }
}
