/// Buffers of frames that are complete, for those held next: so that holding a part of a frame takes no allocation, and an idle
/// framer keeps no large buffer.
struct SpareBuffers {
    private var buffers: [[UInt8]] = []

    /// How many are kept, and of which size.
    private static let most = 32
    static let longest = 64 << 10

    /// A buffer of this size, or for a large one of twice the size; nil if there is none. Its content is undefined.
    mutating func take(_ size: Int) -> [UInt8]? {
        guard
            let index = buffers.lastIndex(where: {
                $0.count == size || $0.count == 2 * size && size > HeldBytes.kept
            })
        else { return nil }
        return buffers.remove(at: index)
    }

    /// Keeps a buffer, if there is room.
    mutating func put(_ buffer: consuming [UInt8]) {
        guard buffer.count <= Self.longest else { return }
        if buffers.count == Self.most { buffers.removeFirst(Self.most / 2) }
        buffers.append(buffer)
    }
}
