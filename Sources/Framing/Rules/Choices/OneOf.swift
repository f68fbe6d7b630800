import Streams

/// Several kinds of frames in one stream: for each frame, the first kind in order whose header can be.
///
/// A type byte selects its kind by being a constant of that kind's header.
struct OneOf: CompositeRule {
    static let name = "oneOf"

    let parts: [RulePart]
    /// What the kinds are called; nil where they have no name.
    let names: [String?]

    /// Of so many kinds it is said what they missed.
    private static let mostSaid = 8

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        var reasons: [BadBytes] = []
        for part in parts {
            let scan = part.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
            guard case .bad(let bad) = scan else { return scan }
            reasons.append(bad)
        }
        // What is bad in a way that only its own kind could be says more than a constant that does not match.
        let telling = reasons.first { $0.reason != .badHead && $0.reason != .noSync } ?? reasons.first
        guard parts.count > 1, var bad = telling else {
            return .bad(telling ?? BadBytes(.badHead, "no kind of frame starts at offset \(origin + start)"))
        }
        bad.detail = misses(reasons, at: origin + start)
        return .bad(bad)
    }

    /// For people: what each kind missed.
    private func misses(_ reasons: [BadBytes], at offset: Int) -> String {
        var said: [String] = []
        for (index, reason) in reasons.prefix(Self.mostSaid).enumerated() {
            var detail = reason.detail
            for place in [" (head at offset \(offset))", " (frame at offset \(offset))", " at offset \(offset)"] {
                if detail.hasSuffix(place) { detail.removeLast(place.count) }
            }
            said.append("\((index < names.count ? names[index] : nil) ?? "kind \(index + 1)"): \(detail)")
        }
        if reasons.count > said.count { said.append("and \(reasons.count - said.count) more kinds") }
        return "no kind of frame starts at offset \(offset): " + said.joined(separator: "; ")
    }

}
