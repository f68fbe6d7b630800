import Streams

/// Held bytes: a buffer that is filled and emptied repeatedly, without allocations.
struct HeldBytes: Sendable {
    /// The first `count` of them are valid.
    private(set) var storage: [UInt8] = []
    private(set) var count = 0

    /// A small buffer is kept when emptied, so that a split frame costs no allocation.
    static let kept = 256

    /// The size of the smallest of the other buffers.
    private static var shortestLarge: Int { 512 }

    var isEmpty: Bool { count == 0 }

    /// How much memory is accounted for: the size of the buffer, or where that is a spare one, of the one that would have been
    /// allocated. So it depends on these bytes alone.
    @inline(__always)
    var memory: Int {
        storage.count <= Self.kept || storage.count > SpareBuffers.longest
            ? storage.count : Self.size(of: max(count, Self.shortestLarge))
    }

    /// Packs or unpacks the size of the buffer that is kept while no bytes are held.
    mutating func pass(through numbers: inout PackedNumbers) {
        var size = storage.count
        numbers.pass(&size)
        if size > storage.count { storage = [UInt8](repeating: 0, count: min(size, Self.kept)) }
    }

    /// The power of two that is not below a number.
    @inline(__always)
    private static func size(of needed: Int) -> Int { 1 << (Int.bitWidth - (needed - 1).leadingZeroBitCount) }

    /// Adds bytes after the others.
    @inline(__always)
    mutating func append(_ bytes: RawSpan) {
        let end = count &+ bytes.byteCount
        if storage.count < end { grow(to: end) }
        storage.withUnsafeMutableBytes { room in
            bytes.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: room[count..<end]).copyMemory(from: bytes)
            }
        }
        count = end
    }

    /// Adds bytes after the others. If they need a larger buffer, it is a spare one or a new one, of the size that the whole frame will need
    /// if that is not much more than there is.
    ///
    /// - Parameter total: how many bytes there will be. There is room for them at once, unless they are many more than there are:
    ///   what a length merely announces takes no memory.
    @inline(__always)
    mutating func append(_ bytes: RawSpan, of total: Int, _ scratch: FramingScratch) {
        if storage.count < count &+ bytes.byteCount { replaceBuffer(count + bytes.byteCount, total, scratch) }
        append(bytes)
    }

    /// Moves to a larger buffer, unless it would be larger than spare ones are (`grow` makes those).
    ///
    /// A small one is taken only from the spares, at exactly the size that `grow` would make, since its size is what is accounted for. A
    /// large one is a spare one of the announced size, or a new one of the needed size: a length alone takes no memory.
    @inline(never)
    private mutating func replaceBuffer(_ needed: Int, _ total: Int, _ scratch: FramingScratch) {
        var room = room(for: needed)
        guard room <= SpareBuffers.longest else { return }
        let announced = min(total, 4 * needed)
        let isSmall = max(room, announced) <= Self.kept
        if !isSmall { room = max(room, Self.shortestLarge) }
        let size = isSmall ? room : Self.size(of: max(room, min(announced, SpareBuffers.longest)))
        guard
            var buffer = scratch.spares.take(size, orTwice: !isSmall && size == room)
                ?? (isSmall ? nil : [UInt8](repeating: 0, count: room))
        else { return }
        swap(&buffer, &storage)
        guard !buffer.isEmpty else { return }
        let held = count
        count = 0
        append(buffer.span.bytes.extracting(0..<held))
        scratch.spares.put(buffer)
    }

    /// The size of a buffer for a number of bytes, whether the present one is a spare one or not. Sizes are used again, so that a
    /// spare buffer fits the next frame.
    private func room(for needed: Int) -> Int {
        let room = max(needed, min(2 * memory, needed + max(1 << 20, needed / 4)), SpareBuffers.shortest)
        guard room <= SpareBuffers.longest else { return room }
        return Self.size(of: room)
    }

    @inline(never)
    private mutating func grow(to needed: Int) {
        let room = room(for: needed)
        storage.reserveCapacity(room)
        storage.append(contentsOf: repeatElement(0, count: room - storage.count))
    }

    /// Removes the last of them, so that a number is left.
    mutating func truncate(to left: Int) { count = left }

    /// Adds zeros.
    mutating func append(zeros: Int) {
        append([UInt8](repeating: 0, count: zeros).span.bytes)
    }

    /// Removes all of them.
    @inline(__always)
    mutating func removeAll() {
        count = 0
        if storage.count > Self.kept { storage = [] }
    }

    /// Removes all of them; a large buffer is spare then.
    @inline(__always)
    mutating func removeAll(_ scratch: FramingScratch) {
        count = 0
        if storage.count > Self.kept { giveSpare(scratch) }
    }

    @inline(never)
    private mutating func giveSpare(_ scratch: FramingScratch) {
        var spare: [UInt8] = []
        swap(&spare, &storage)
        scratch.spares.put(consume spare)
    }

    /// Removes the first of them.
    mutating func removeFirst(_ gone: Int) {
        guard gone > 0 else { return }
        if count - gone > storage.count / 2 {
            // As many remain as the buffer is for: they are moved within it.
            storage.withUnsafeMutableBytes { room in
                UnsafeMutableRawBufferPointer(rebasing: room[..<(count - gone)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: room[gone..<count]))
            }
            count -= gone
            return
        }
        let left = storage.span.bytes.extracting(gone..<count).copied()
        removeAll()
        append(left.span.bytes)
    }

    /// Removes and returns all of them.
    mutating func take() -> HeldBytes {
        var taken = HeldBytes()
        swap(&taken, &self)
        return taken
    }
}
