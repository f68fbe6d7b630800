import Streams

/// Several kinds of frames in one stream: for each frame, the first kind in order whose header can be.
///
/// A type byte selects its kind by being a constant of that kind's header.
struct OneOf: CompositeRule {
    static let name = "oneOf"

    let parts: [RulePart]

    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan {
        var reasons: [BadBytes] = []
        for part in parts {
            let scan = part.scan(bytes, from: start, origin: origin, ended: ended, memory: &memory)
            guard case .bad(let bad) = scan else { return scan }
            reasons.append(bad)
        }
        // What is bad in a way that only its own kind could be says more than a constant that does not match.
        let telling = reasons.first { $0.reason != .badHead && $0.reason != .noSync } ?? reasons.first
        return .bad(telling ?? BadBytes(.badHead, "no kind of frame starts at offset \(origin + start)"))
    }

    func resume(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> Resumption {
        earliestResumption(of: parts, bytes, from: start, origin: origin, ended: ended, memory: &memory)
    }
}
