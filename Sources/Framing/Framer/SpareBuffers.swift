/// Buffers of frames that are complete, for those held next: so that holding a part of a frame takes no allocation, and an idle
/// framer keeps no large buffer.
struct SpareBuffers {
    /// Those of each size, powers of two from `shortest` to `longest`; none of any before the first is kept.
    private var buffers: [[[UInt8]]] = []

    /// The sizes of the smallest and the largest ones.
    static let (shortest, longest) = (64, 64 << 10)
    /// At most how many bytes those of each size have together.
    private static let most = 128 << 10

    /// The place of a size that is a power of two.
    private static func place(of size: Int) -> Int {
        size.trailingZeroBitCount - shortest.trailingZeroBitCount
    }

    /// A buffer of this size, a power of two, or of twice the size if that may be; nil if there is none. Its content is undefined.
    mutating func take(_ size: Int, orTwice mayBeTwice: Bool) -> [UInt8]? {
        let place = Self.place(of: size)
        guard place >= 0, place < buffers.count else { return nil }
        if let buffer = buffers[place].popLast() { return buffer }
        return mayBeTwice && place + 1 < buffers.count ? buffers[place + 1].popLast() : nil
    }

    /// Keeps a buffer, if it has such a size and there is room.
    mutating func put(_ buffer: consuming [UInt8]) {
        let place = Self.place(of: buffer.count)
        if buffers.isEmpty { buffers = Array(repeating: [], count: Self.place(of: Self.longest) + 1) }
        guard buffer.count.nonzeroBitCount == 1, place >= 0, place < buffers.count,
            buffers[place].count * buffer.count < Self.most
        else { return }
        buffers[place].append(buffer)
    }
}
