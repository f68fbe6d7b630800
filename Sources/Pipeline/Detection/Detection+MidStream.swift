import BitCollections
import Framing
import Streams

/// Of a stream that was picked up mid-stream, strong formats are never ruled out: their next frame may come later. Others do not wait for
/// that once enough of their frames follow one another, so that a connection that runs already shows its frames while it runs.
extension Detection {
    /// This is looked at whenever a side has had a multiple of this many bytes.
    private static let step = 256

    /// The next offset of a side at which it is looked at.
    static func look(after offset: Int) -> Int { (offset / step + 1) * step }

    /// How many bytes a side must have had before a format of some strength is chosen although a stronger one may still come.
    private static func enough(for strength: Int) -> Int {
        strength >= FormatDetection.outweighing ? step : 4 * step
    }

    /// The strongest format that fits, if each stronger one that may still come has waited for long enough.
    ///
    /// - Parameter offset: how many bytes a side has had.
    func decideMidStream(at offset: Int) -> Choice? {
        guard !isAligned, offset >= Self.step, offset % Self.step == 0, !isUndecidedSignature else { return nil }
        if !deferred.isEmpty { catchUp { offset >= Self.enough(for: $0.strength) } }
        var (best, row) = (0, 0)
        for candidate in candidates where isEnough(candidate, at: offset) {
            let strength = candidate.plan.strength
            if strength > best { (best, row) = (strength, 0) }
            if strength == best { row = max(row, candidate.row) }
        }
        guard best > 0 else { return nil }
        for stronger in candidates where stronger.plan.strength > best && isBlocking(stronger) {
            // Each frame in a row counts two points of strength.
            guard stronger.hasFoundNothing, 2 * row >= stronger.plan.strength - best else { return nil }
        }
        let fitting = candidates.filter { $0.plan.strength == best && isEnough($0, at: offset) }
        return choose(fitting.map { ($0, $0.evidence) })
    }

    private func isEnough(_ candidate: Candidate, at offset: Int) -> Bool {
        offset >= Self.enough(for: candidate.plan.strength) && (candidate.fits || candidate.fitsForLong)
    }
}
