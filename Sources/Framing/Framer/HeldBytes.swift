import Streams

/// Held bytes: a buffer that is filled and emptied repeatedly, without allocations.
struct HeldBytes: Sendable {
    /// The first `count` of them are valid.
    private(set) var storage: [UInt8] = []
    private(set) var count = 0

    /// A small buffer is kept when emptied, so that a split frame costs no allocation.
    private static let kept = 256

    var isEmpty: Bool { count == 0 }

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

    @inline(never)
    private mutating func grow(to needed: Int) {
        let room = max(needed, min(2 * storage.count, needed + max(1 << 20, needed / 4)), 64)
        storage.reserveCapacity(room)
        storage.append(contentsOf: repeatElement(0, count: room - storage.count))
    }

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

    /// Removes the first of them.
    mutating func removeFirst(_ gone: Int) {
        guard gone > 0 else { return }
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
