/// Buffers of frames that are complete, for those held next: so that holding a part of a frame takes no allocation, and an idle
/// framer keeps no large buffer.
struct SpareBuffers {
    private var buffers: [[UInt8]] = []

    /// How many are kept, and of which size.
    private static let most = 16
    static let longest = 64 << 10

    /// A buffer of at least `needed` bytes, and not of many times as many; nil if there is none. Its content is undefined.
    mutating func take(atLeast needed: Int) -> [UInt8]? {
        let index = buffers.lastIndex { $0.count >= needed && $0.count / 8 <= needed }
        return index.map { buffers.remove(at: $0) }
    }

    /// Keeps a buffer, if there is room.
    mutating func put(_ buffer: [UInt8]) {
        guard buffer.count <= Self.longest else { return }
        if buffers.count == Self.most { buffers.removeFirst(Self.most / 2) }
        buffers.append(buffer)
    }
}
