import Streams

/// Several kinds of frames in one stream: for each frame, the first kind in order whose header matches.
///
/// A type byte selects its kind by being a constant of that kind's header.
struct OneOf: CompositeRule {
    static let name = "oneOf"

    let parts: [RulePart]
    /// The kinds' names; nil if they have none.
    let names: [String?]

    /// For at most this many kinds a mismatch is reported.
    private static let mostSaid = 8

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        // Most frames are of some kind: why they are not of those before it is only found out if they are of none.
        let explains = memory.explains
        defer { memory.explains = explains }
        memory.explains = false
        // The kinds before the one that more bytes were waited for are ruled out; what was searched was searched for that one. In states, the
        // memory might be that of another rule with more kinds.
        let waited = memory.kind.flatMap { $0 < parts.count ? $0 : nil }
        memory.kind = nil
        if waited == nil { memory.forget() }
        var telling: BadBytes?
        for index in (waited ?? 0)..<parts.count {
            let scan = parts[index].scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
            switch scan {
            case .bad(let bad): if telling?.isTelling != true, telling == nil || bad.isTelling { telling = bad }
            case .incomplete:
                memory.kind = index
                return scan
            case .shape, .padding: return scan
            }
            memory.forget()
        }
        // The kinds that were ruled out before have faults, too.
        guard explains || waited != nil else { return .bad(telling ?? BadBytes(.badHead, "")) }
        memory.explains = explains
        return .bad(explained(bytes, from: start, origin: origin, ended: ended, memory))
    }

    /// Why a frame is of no kind.
    ///
    /// - Parameter memory: what is remembered of the stream, and of no kind.
    private func explained(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, _ memory: ScanMemory
    ) -> BadBytes {
        var reasons: [BadBytes] = []
        for part in parts {
            var memory = memory
            let scan = part.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
            if case .bad(let bad) = scan { reasons.append(bad) }
        }
        guard var bad = reasons.first(where: \.isTelling) ?? reasons.first else {
            return BadBytes(.badHead, "no kind of frame starts at offset \(origin + start)")
        }
        if memory.explains, parts.count > 1 { bad.detail = misses(reasons, at: origin + start) }
        return bad
    }

    func bound(to conversation: Conversation, _ direction: Direction) -> (any FramingRule)? {
        isBound ? OneOf(parts: boundParts(conversation, direction), names: names) : nil
    }

    /// Human-readable: what each kind expected.
    private func misses(_ reasons: [BadBytes], at offset: Int) -> String {
        var said: [String] = []
        for (index, reason) in reasons.prefix(Self.mostSaid).enumerated() {
            let detail = reason.detail(without: offset)
            said.append("\((index < names.count ? names[index] : nil) ?? "kind \(index + 1)"): \(detail)")
        }
        if reasons.count > said.count { said.append("and \(reasons.count - said.count) more kinds") }
        return "no kind of frame starts at offset \(offset): " + said.joined(separator: "; ")
    }

}

extension BadBytes {
    /// Whether only a frame of its own kind could have the fault: that is more telling than a constant that does not match.
    fileprivate var isTelling: Bool { reason != .badHead && reason != .noSync }
}
