import Streams

/// An unsigned number at a fixed place of every frame, read with one load.
struct FixedPlace: Sendable {
    /// Where it begins, from the frame's first byte.
    let offset: Int
    /// How many bytes it has, 1 to 8.
    let width: Int
    let order: ByteOrder
    private let shift: UInt64

    /// A number at a place; nil if it does not have 1 to 8 bytes.
    init?(offset: Int, width: Int, order: ByteOrder) {
        guard (1...8).contains(width), offset >= 0 else { return nil }
        (self.offset, self.width, self.order) = (offset, width, order)
        shift = UInt64(64 - 8 * width)
    }

    /// Its value in the frame at an index of the bytes, which contain it.
    @inline(__always)
    func value(in bytes: RawSpan, at start: Int) -> UInt64 {
        let place = start &+ offset
        guard place &+ 8 <= bytes.byteCount else { return valueAtEnd(bytes, place) }
        let word = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: place, as: UInt64.self)
        return order == .big ? word.bigEndian &>> shift : (word.littleEndian &<< shift) &>> shift
    }

    /// Its value where fewer than eight bytes are available.
    @inline(never)
    private func valueAtEnd(_ bytes: RawSpan, _ place: Int) -> UInt64 { bytes.unsigned(at: place, width: width, order) }
}
