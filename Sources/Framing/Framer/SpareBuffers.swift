/// Buffers of frames that are complete, for those held next: so that holding a part of a frame takes no allocation, and an idle
/// framer keeps no large buffer.
struct SpareBuffers {
    /// The newest one: most often it is just what is needed next.
    private var newest: [UInt8] = []
    /// The others of each size, powers of two from `shortest` to `longest`; none of any before the first is kept.
    private var buffers: [[[UInt8]]] = []

    // Computed: see "Performance idioms" in docs/architecture.md.

    /// The size of the smallest ones.
    static var shortest: Int { 64 }
    /// The size of the largest ones.
    static var longest: Int { 64 << 10 }
    /// At most how many bytes those of each size have together, besides the newest.
    private static var most: Int { 128 << 10 }

    /// The place of a size that is a power of two.
    private static func place(of size: Int) -> Int {
        size.trailingZeroBitCount - shortest.trailingZeroBitCount
    }

    /// A buffer of this size, a power of two, or of twice the size if that may be; nil if there is none. Its content is undefined.
    @inline(__always)
    mutating func take(_ size: Int, orTwice mayBeTwice: Bool) -> [UInt8]? {
        if newest.count == size || mayBeTwice && newest.count == 2 &* size {
            var taken: [UInt8] = []
            swap(&taken, &newest)
            return taken
        }
        return takeOlder(size, orTwice: mayBeTwice)
    }

    @inline(never)
    private mutating func takeOlder(_ size: Int, orTwice mayBeTwice: Bool) -> [UInt8]? {
        let place = Self.place(of: size)
        guard place >= 0, place < buffers.count else { return nil }
        if let buffer = buffers[place].popLast() { return buffer }
        return mayBeTwice && place + 1 < buffers.count ? buffers[place + 1].popLast() : nil
    }

    /// Keeps a buffer, if it has such a size and there is room.
    @inline(__always)
    mutating func put(_ buffer: consuming [UInt8]) {
        guard buffer.count.nonzeroBitCount == 1, (Self.shortest...Self.longest).contains(buffer.count) else { return }
        swap(&buffer, &newest)
        if !buffer.isEmpty { putOlder(buffer) }
    }

    @inline(never)
    private mutating func putOlder(_ buffer: [UInt8]) {
        let place = Self.place(of: buffer.count)
        if buffers.isEmpty { buffers = Array(repeating: [], count: Self.place(of: Self.longest) + 1) }
        if buffers[place].count * buffer.count < Self.most { buffers[place].append(buffer) }
    }
}
