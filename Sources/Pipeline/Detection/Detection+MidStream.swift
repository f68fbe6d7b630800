import BitCollections
import Framing
import Streams
import Trace

/// Of a stream that was picked up mid-stream, strong formats are never ruled out: their next frame may come later. Others do not wait for
/// that once enough of their frames follow one another, so that a connection that runs already shows its frames while it runs.
extension Detection {
    /// How many bytes of a side must have arrived for a look at it. Between looks no trials are needed, which would hold these bytes, too.
    private static let looks = [256, 512, 1_024, 2_048, 4_096, 16_384, 32_768]

    /// The offset of the next look at a side.
    static func look(after offset: Int) -> Int { looks.first { $0 > offset } ?? .max }

    /// From which look on a format of some strength is chosen although a stronger one may still come.
    private static func firstLook(for strength: Int) -> Int { strength >= FormatDetection.outweighing ? 256 : 1_024 }

    /// From which look on a protocol that is not framed is chosen: its messages may be the body of a frame.
    private static let signatureLook = 4_096

    /// The strongest format that fits, if each stronger one that may still come has waited for long enough.
    ///
    /// - Parameter offset: how many bytes of the side have arrived.
    func decideMidStream(at offset: Int, of direction: Direction) -> Choice? {
        guard !isAligned, Self.looks.contains(offset), !isUndecidedSignature else { return nil }
        // It decided nothing there before it slept, with formats that have been ruled out since.
        guard offset > looked[direction] else { return nil }
        let lasting = candidates
        catchUp { offset >= Self.firstLook(for: $0.strength) }
        if let choice = chooseMidStream(at: offset) { return choice }
        if offset >= Self.signatureLook, mayBeSignature, let known = knownMidStream(isOver: false) {
            return known
        }
        for candidate in candidates where !lasting.contains(where: { $0 === candidate }) {
            deferred.insert(candidate.order)
        }
        candidates = lasting
        return nil
    }

    /// Whether no frames of a format follow one another, and strong formats have not found anything at all.
    private var mayBeSignature: Bool {
        candidates.allSatisfy { candidate in
            candidate.row == 0
                && (candidate.plan.strength < FormatDetection.outweighing || candidate.hasFoundNothing)
        }
    }

    /// The protocol that is not framed whose messages follow one another in what the trials were fed.
    ///
    /// - Parameter isOver: whether no more will be seen.
    func knownMidStream(isOver: Bool) -> Choice? {
        guard !isAligned else { return nil }
        for direction in Direction.allCases {
            let bytes = fedBytes(of: direction)
            for signature in Signature.all {
                guard !isReplaced(signature.name, isOver: isOver), let evidence = signature.midStream(bytes.span.bytes)
                else { continue }
                return (.signature(signature.format), FormatChoice(by: .content, evidence: evidence))
            }
        }
        return nil
    }

    /// What the trials were fed of a side, up to the first gap.
    private func fedBytes(of direction: Direction) -> [UInt8] {
        var bytes: [UInt8] = []
        for event in held.events where event.direction == direction {
            switch event.kind {
            case .received:
                let chunk = held.bytes.span.bytes.extracting(event.place..<event.place + event.count)
                bytes.append(contentsOf: chunk)
            case .missing: return bytes
            case .finished, .noticed, .opened, .closed, .advanced, .learned: continue
            }
            if bytes.count >= fed[direction] { break }
        }
        return Array(bytes.prefix(fed[direction]))
    }

    private func chooseMidStream(at offset: Int) -> Choice? {
        func fits(_ candidate: Candidate) -> Bool {
            offset >= Self.firstLook(for: candidate.plan.strength) && (candidate.fits || candidate.fitsForLong)
        }
        let fitting = candidates.filter(fits)
        guard let best = fitting.map(\.plan.strength).max() else { return nil }
        let strongest = fitting.filter { $0.plan.strength == best }
        let row = strongest.map(\.row).max() ?? 0
        for stronger in candidates where stronger.plan.strength > best && isBlocking(stronger) {
            // Each frame in a row counts two points of strength.
            guard stronger.hasFoundNothing, 2 * row >= stronger.plan.strength - best else { return nil }
        }
        return choose(strongest.map { ($0, $0.evidence) })
    }
}
