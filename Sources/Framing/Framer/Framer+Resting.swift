import Streams

/// What is left of a framer between two frames: a few numbers, by which another one goes on with the same results.
extension Framer {
    /// Whether nothing is held and nothing is under way: the next byte starts a frame, which depends on no other.
    package var isResting: Bool {
        isAligned && pending.isEmpty && chunks.isEmpty && gaps.isEmpty && shape == nil && !hasRun && !isUnderWay
            && conversation == nil && memory.search == .none
    }

    /// Packs what a resting framer knows, or makes a new one of the same rule and direction know it.
    package mutating func pass(through numbers: inout PackedNumbers) {
        counts.pass(through: &numbers)
        numbers.pass(&origin)
        memory.pass(through: &numbers)
        numbers.pass(&wanted)
        numbers.pass(&beganAs)
        latest.pass(through: &numbers, near: origin)
        pending.pass(through: &numbers)
        mode = .aligned
    }
}

extension ByteCounts {
    fileprivate mutating func pass(through numbers: inout PackedNumbers) {
        numbers.pass(&framed)
        numbers.pass(&unframed)
        numbers.pass(&padding)
        numbers.pass(&missing)
        numbers.pass(&frames)
    }
}

extension ChunkPlace {
    /// - Parameter origin: an offset to which the chunk's are close.
    fileprivate mutating func pass(through numbers: inout PackedNumbers, near origin: Int) {
        var (before, count) = (origin &- range.lowerBound, range.count)
        numbers.pass(&before)
        numbers.pass(&count)
        range = origin &- before..<origin &- before &+ count
        numbers.pass(&time)
        numbers.pass(&packet)
    }
}
