import Streams

/// Other frames in each state of a conversation (`states` in a format file).
///
/// The `Conversation` knows the state. Where a stream was picked up mid-stream or has a gap, the state is the one whose frame
/// has the most evidence; the frame found then decides.
struct StateRule: CompositeRule {
    static let name = "states"

    let parts: [RulePart]
    /// The states' names.
    let names: [String]
    /// The conversation, and the direction in it; nil: each frame's state is found by its evidence.
    var conversation: (Conversation, Direction)?

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        if let (conversation, direction) = conversation,
            let reason = conversation.undecodable(direction, at: origin + start)
        {
            return .bad(BadBytes(.notDetected, reason))
        }
        if let state = state(at: origin + start, memory), state < parts.count {
            let before = memory
            let scan = parts[state].scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
            guard case .bad = scan, let (conversation, direction) = conversation, conversation.isAlone(direction) else {
                return scan
            }
            // What this state's rule has searched, that of another one has not.
            memory = before
            let other = byEvidence(
                bytes, from: start, origin: origin, ended: ended, explains: false, search: memory.search)
            switch other {
            case .shape, .incomplete: return other
            case .bad, .padding: return scan
            }
        }
        return byEvidence(
            bytes, from: start, origin: origin, ended: ended, explains: memory.explains, search: memory.search)
    }

    /// The states whose frames the bytes may hold: not those whose streams are encoded.
    private var readable: [RulePart] {
        guard let (conversation, direction) = conversation else { return parts }
        return parts.indices.filter { conversation.isReadable($0, direction) }.map { parts[$0] }
    }

    /// How many bytes of a frame may decide its state: all that are available would make it depend on the segmentation.
    private static let window = 1_024

    /// The frame of the state that has the most evidence. Opaque bytes have none.
    private func byEvidence(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, explains: Bool, search: ScanMemory.Search
    ) -> FrameScan {
        let end = min(bytes.byteCount, start + Self.window)
        let known = bytes.extracting(0..<end)
        let isAll = ended && end == bytes.byteCount
        var best: (scan: FrameScan, bits: Double)?
        var isOpen = false
        var other: FrameScan?
        for part in readable where !part.rule.dependsOnCutting {
            var own = ScanMemory()
            own.opening = nil
            // Only the first reason is kept.
            own.explains = explains && other == nil
            own.search = search
            let scan = part.scan(known, from: start, origin: origin, ended: isAll, memory: &own)
            switch scan {
            case .shape(let shape):
                let index = start + shape.head
                guard index <= known.byteCount else { continue }
                let background = ByteBackground(of: known.extracting(start..<index))
                let evidence = part.rule.evidence(
                    of: part.own(shape), in: known, at: start, previous: nil, background)
                if let bits = evidence?.bits, bits > best?.bits ?? -.infinity { best = (scan, bits) }
            case .incomplete: isOpen = true
            case .padding, .bad: if other == nil { other = scan }
            }
        }
        // A frame whose head is not complete yet may have more evidence.
        if isOpen, end - start < Self.window, !ended { return .incomplete(atLeast: end - start + 1) }
        if let best { return best.scan }
        if isOpen {
            // Only a frame with a long head is left.
            for part in readable where !part.rule.dependsOnCutting {
                var own = ScanMemory()
                own.opening = nil
                (own.explains, own.search) = (false, search)
                let scan = part.scan(bytes, from: start, origin: origin, ended: ended, memory: &own)
                if case .bad = scan { continue }
                return scan
            }
        }
        return other ?? .bad(BadBytes(.badHead, "no frame of any state starts at offset \(origin + start)"))
    }

    private func state(at offset: Int, _ memory: ScanMemory) -> Int? {
        if let (conversation, direction) = conversation { return conversation.state(of: direction, at: offset) }
        return memory.opening == offset ? 0 : nil
    }

    /// A search finds frames with evidence: opaque bytes have none, except where a stream begins.
    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool {
        for (state, part) in parts.enumerated() where state == 0 || !part.rule.dependsOnCutting {
            if part.rule.mayStart(bytes, at: start) { return true }
        }
        return false
    }

    /// The state in which frames of a kind are.
    func state(of shape: FrameShape) -> Int? { parts.firstIndex { $0.owns(shape.layout) } }

    func bound(to conversation: Conversation, _ direction: Direction) -> (any FramingRule)? {
        let known = conversation.hasStates ? (conversation, direction) : nil
        return StateRule(parts: boundParts(conversation, direction), names: names, conversation: known)
    }

    /// The first state is where streams begin.
    var hasOpening: Bool { true }
}
