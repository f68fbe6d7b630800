import Streams

/// The constant bytes of a header, compared eight at a time.
struct PlainConstants: Sendable {
    /// Which bits of the first eight bytes are constant, the first byte in the lowest bits, and what they are.
    private let (mask, pattern): (UInt64, UInt64)
    /// The constants behind them.
    private let others: [(offset: Int, byte: UInt8)]

    /// Constants, each with its place in the header.
    init(_ bytes: [(offset: Int, byte: UInt8)]) {
        var (mask, pattern): (UInt64, UInt64) = (0, 0)
        for (offset, byte) in bytes where offset < 8 {
            mask |= 0xff << UInt64(8 * offset)
            pattern |= UInt64(byte) << UInt64(8 * offset)
        }
        (self.mask, self.pattern) = (mask, pattern)
        others = bytes.filter { $0.offset >= 8 }
    }

    /// Whether a header at an index of the bytes, which contain it, has the constants.
    @inline(__always)
    func match(_ bytes: RawSpan, at start: Int) -> Bool {
        if mask == 0, others.isEmpty { return true }
        guard start &+ 8 <= bytes.byteCount else { return matchAtEnd(bytes, start) }
        let word = UInt64(
            littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self))
        return word & mask == pattern && (others.isEmpty || matchOthers(bytes, start))
    }

    /// Whether what there is of a header has the constants.
    func match(beginning bytes: RawSpan) -> Bool {
        if mask == 0, others.isEmpty { return true }
        let available = min(bytes.byteCount, 8)
        let mask = available == 8 ? mask : mask & ((1 << UInt64(8 * available)) - 1)
        guard word(bytes, 0) & mask == pattern & mask else { return false }
        for (offset, byte) in others where offset < bytes.byteCount && bytes[byte: offset] != byte { return false }
        return true
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

    @inline(never)
    private func matchOthers(_ bytes: RawSpan, _ start: Int) -> Bool {
        for (offset, byte) in others where bytes[byte: start + offset] != byte { return false }
        return true
    }
}
