import Streams

/// Several readings of one stream, of which one applies: decided once, at the first frame that distinguishes them.
///
/// A reading whose first head is invalid is ruled out; if one is left, it is chosen. Of several, the first in order is chosen
/// whose frame is followed by another one's head, or by the stream's end; if there is none, the first. The stream's first 64 KiB decide:
/// while they arrive, they are read again for each chunk.
struct Alternatives: CompositeRule {
    static let name = "alternatives"

    let parts: [RulePart]
    /// Which four bits of `ScanMemory.choices` hold the decision.
    let slot: Int

    /// The most choices a format may have.
    static let mostSlots = 8
    /// The most readings a choice may have.
    static let mostParts = 15

    func bound(to conversation: Conversation, _ direction: Direction) -> (any FramingRule)? {
        isBound ? Alternatives(parts: boundParts(conversation, direction), slot: slot) : nil
    }

    /// How many bytes from the first frame's start decide.
    private static let window = 65_536

    private enum Verdict {
        case holds, open, broken
    }

    private func decided(_ memory: ScanMemory) -> RulePart? {
        let choice = Int(memory.choices >> UInt32(4 * slot) & 15)
        return choice == 0 || choice > parts.count ? nil : parts[choice - 1]
    }

    private func decide(_ index: Int, _ memory: inout ScanMemory) -> RulePart {
        memory.choices |= UInt32(index + 1) << UInt32(4 * slot)
        return parts[index]
    }

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        if let part = decided(memory) {
            return part.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
        }
        let known = bytes.extracting(0..<min(bytes.byteCount, start + Self.window))
        let isWhole = ended && known.byteCount == bytes.byteCount
        let isFull = known.byteCount - start == Self.window
        // No shape: its head is longer than the window.
        var possible: [(index: Int, shape: FrameShape?)] = []
        var firstBad: BadBytes?
        for index in parts.indices {
            var own = ScanMemory()
            own.explains = memory.explains && firstBad == nil
            switch parts[index].scan(known, from: start, origin: origin, ended: isWhole, memory: &own) {
            case .shape(let shape): possible.append((index, shape))
            case .bad(let bad): firstBad = firstBad ?? bad
            case .padding(let count): return .padding(count)
            case .incomplete:
                if isFull { possible.append((index, nil)) } else if !isWhole { return .incomplete(atLeast: 0) }
            }
        }
        guard !possible.isEmpty else {
            return firstBad.map { .bad($0) } ?? .incomplete(atLeast: 0)
        }
        var choice: Int?
        if possible.count > 1 {
            var open: Int?
            search: for case (let index, let shape?) in possible {
                switch verdict(parts[index], known, start, shape, origin: origin, ended: isWhole) {
                case .holds:
                    choice = index
                    break search
                case .open:
                    if !isFull { return .incomplete(atLeast: 0) }
                    open = open ?? index
                case .broken: continue
                }
            }
            choice = choice ?? open ?? possible.first { $0.shape == nil }?.index
        }
        let part = decide(choice ?? possible[0].index, &memory)
        return part.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
    }

    /// Whether a frame of a reading ends as it must, and is followed by another one's head.
    private func verdict(
        _ part: RulePart, _ bytes: RawSpan, _ start: Int, _ shape: FrameShape, origin: Int, ended: Bool
    ) -> Verdict {
        let next = start + shape.total
        if next > bytes.byteCount { return ended ? .broken : .open }
        if part.rule.endFault(of: bytes.extracting(start..<next), part.own(shape)) != nil { return .broken }
        if next == bytes.byteCount { return ended ? .holds : .open }
        var memory = ScanMemory()
        memory.explains = false
        switch part.scan(bytes, from: next, origin: origin, ended: ended, memory: &memory) {
        case .bad: return .broken
        case .incomplete: return ended ? .holds : .open
        case .shape, .padding: return .holds
        }
    }

}
