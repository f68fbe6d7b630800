import Streams

/// How far a stream on trial may be fed before anything changes.
extension Framer {
    /// How many of the next bytes may be passed at once so that whatever they change, such as a frame that is complete, a head, or
    /// bytes that are none, changes with the last of them; at least 1.
    mutating func steady(_ next: RawSpan) -> Int {
        switch mode {
        case .aligned:
            guard !pending.isEmpty else { return 1 }
            if let shape { return max(1, (seen < shape.head ? shape.head : shape.total) - seen) }
            if wanted > pending.count { return wanted - pending.count }
            return 1 + rule.inert(next, after: pending.count)
        case .searching:
            // The search has said how many bytes the place on trial needs; a gap ends its wait.
            let least = pending.isEmpty ? 1 : max(1, wanted - pending.count)
            // The first byte that belongs to no frame is a change; those after it are none until a frame may begin.
            guard hasRun, counts.frames > 0 || !shared.hasOpening else { return least }
            switch shared.landmark {
            case .never: return .max
            case .at, .after(_, isCertain: true): return max(least, 1 + next.count(before: shared.landmarkEnds))
            case .none: return max(least, 1 + inert(next))
            case .anywhere, .after: return least
            }
        case .skipping(let end, _): return max(1, end - origin - seen)
        }
    }

    /// How many of the next bytes a search passes without finding a place where a frame may start.
    private mutating func inert(_ next: RawSpan) -> Int {
        if pending.isEmpty { return shared.firstHopeful(next, from: 0) ?? next.byteCount }
        // What is held is the beginning of a head, which the next bytes may rule out; longer beginnings rarely are.
        guard pending.count < Self.lookedAhead else { return 0 }
        var bytes = pending.storage.span.bytes.copied(0..<pending.count)
        bytes.append(contentsOf: next.extracting(0..<min(next.byteCount, Self.lookedAhead)))
        return max(0, (shared.firstHopeful(bytes.span.bytes, from: 0) ?? bytes.count) - pending.count)
    }

    /// A search that holds fewer bytes than this may hold the beginning of a head.
    static let lookedAhead = 64
}
