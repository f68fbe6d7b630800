import Streams

/// Runs a program over bytes, in all its states at once: each scalar costs at most one visit of every instruction.
struct PatternMatcher {
    private let program: PatternProgram
    private let instructions: [PatternProgram.Instruction]
    /// Where each instruction was last visited.
    private var visited: [Int]
    /// Instructions still to visit here.
    private var stack: [Int] = []
    /// Instructions reached by the preceding scalar.
    private var pending: [Int] = []

    init(_ program: PatternProgram) {
        self.program = program
        instructions = program.instructions
        visited = Array(repeating: -1, count: instructions.count)
    }

    /// Whether there is a match anywhere.
    mutating func search(_ bytes: RawSpan) -> Bool {
        var offset = 0
        var previous: UInt32?
        while true {
            if pending.isEmpty {
                if offset > 0, program.isAnchored { return false }
                if let first = program.firstByte {
                    while offset < bytes.byteCount, bytes[byte: offset] != first { offset += 1 }
                    if offset == bytes.byteCount { return false }
                    // The preceding scalar matters only if it is ASCII: as a part of a word or a line's end.
                    previous = offset == 0 ? nil : UInt32(bytes[byte: offset - 1])
                }
            }
            let next = bytes.scalar(at: offset)
            if visit(at: offset, previous, next?.value) { return true }
            guard let next else { return false }
            previous = next.value
            offset += next.width
        }
    }

    /// The length of the longest match that starts at a byte; nil if there is none.
    mutating func prefix(_ bytes: RawSpan, from start: Int) -> Int? {
        var longest: Int?
        var offset = start
        var previous = bytes.scalar(before: start)
        while true {
            let next = bytes.scalar(at: offset)
            if visit(at: offset, previous, next?.value, starts: offset == start, stops: false) {
                longest = offset - start
            }
            guard let next, !pending.isEmpty else { return longest }
            previous = next.value
            offset += next.width
        }
    }

    /// Follows the pending instructions, and a new start if wanted, to those that take `next`. True if one is the end of a match;
    /// if that `stops` the visit, the pending instructions are then incomplete.
    private mutating func visit(
        at offset: Int, _ previous: UInt32?, _ next: UInt32?, starts: Bool = true, stops: Bool = true
    ) -> Bool {
        swap(&stack, &pending)
        pending.removeAll(keepingCapacity: true)
        if starts { stack.append(0) }
        var hasMatched = false
        while let index = stack.popLast() {
            guard visited[index] != offset else { continue }
            visited[index] = offset
            switch instructions[index] {
            case .match:
                if stops { return true }
                hasMatched = true
            case .jump(let target): stack.append(target)
            case .split(let first, let second):
                stack.append(second)
                stack.append(first)
            case .assertion(let assertion):
                if assertion.holds(between: previous, and: next) { stack.append(index + 1) }
            case .scalar(let value):
                if next == value { pending.append(index + 1) }
            case .set(let set):
                if let next, program.sets[set].contains(next) { pending.append(index + 1) }
            }
        }
        return hasMatched
    }
}

extension RawSpan {
    /// The scalar that ends before an offset; nil if there is none.
    fileprivate func scalar(before offset: Int) -> UInt32? {
        for width in stride(from: min(4, offset), to: 0, by: -1) {
            if let found = scalar(at: offset - width), found.width == width { return found.value }
        }
        return nil
    }

    /// The scalar at an offset and how many bytes it takes; a byte that is not part of valid UTF-8 represents itself.
    ///
    /// Well-formed sequences are those of the Unicode Standard, table 3-7.
    fileprivate func scalar(at offset: Int) -> (value: UInt32, width: Int)? {
        guard offset < byteCount else { return nil }
        let first = self[byte: offset]
        guard first >= 0x80 else { return (UInt32(first), 1) }
        let width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
        guard first >= 0xc2, first <= 0xf4, offset + width <= byteCount else { return (UInt32(first), 1) }
        var value = UInt32(first) & (0xff >> UInt32(width + 1))
        for index in offset + 1..<offset + width {
            let byte = self[byte: index]
            guard byte & 0xc0 == 0x80 else { return (UInt32(first), 1) }
            value = value << 6 | UInt32(byte & 0x3f)
        }
        // Too long for its value, a surrogate, or beyond Unicode.
        let least: UInt32 = width == 4 ? 0x1_0000 : width == 3 ? 0x800 : 0x80
        guard value >= least, Unicode.Scalar(value) != nil else { return (UInt32(first), 1) }
        return (value, width)
    }
}
