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
        let (before, explains) = (memory, memory.explains)
        defer { memory.explains = explains }
        memory.explains = false
        var reasons: [BadBytes] = []
        for part in parts {
            let scan = part.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
            guard case .bad(let bad) = scan else { return scan }
            reasons.append(bad)
        }
        if explains {
            var again = before
            for (index, part) in parts.enumerated() {
                let scan = part.scan(bytes, from: start, origin: origin, ended: ended, memory: &again)
                if case .bad(let bad) = scan { reasons[index] = bad }
            }
        }
        // A fault that only its own kind could have is more telling than a constant that does not match.
        let telling = reasons.first { $0.reason != .badHead && $0.reason != .noSync } ?? reasons.first
        guard parts.count > 1, var bad = telling else {
            return .bad(telling ?? BadBytes(.badHead, "no kind of frame starts at offset \(origin + start)"))
        }
        if explains { bad.detail = misses(reasons, at: origin + start) }
        return .bad(bad)
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
