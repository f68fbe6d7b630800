import Framing
import Streams

/// Formats that cannot be chosen for as long as a stronger one makes them wait are not on trial: most connections are recognised
/// without them. When they are needed, their trials are made up for, with the held events.
extension Detection {
    /// A format that is not on trial yet, and its place in the order of formats.
    struct Deferred {
        var order: Int
        var plan: TrialPlan
    }

    /// Begins the trials of the strongest of the deferred formats, down to one that makes weaker ones wait.
    ///
    /// - Parameter direction: the sender of the first bytes; nil if there are none.
    func beginStrongest(_ direction: Direction?) {
        while let strength = strongestDeferred {
            let begun = takeDeferred { $0.strength == strength || $0.detection.replaces != nil }
            candidates += begun.map { Candidate($0.plan, aligned: isAligned, order: $0.order) }
            if let direction, candidates.contains(where: { $0.blocks && $0.asks(direction) }) { break }
        }
        sortCandidates()
    }

    /// Makes up for the trials of the formats that no stronger one makes wait any more.
    func makeUpForTrials() {
        while let strength = strongestDeferred, strength >= blockedBelow {
            makeUpForTrials { $0.strength == strength }
        }
    }

    /// Makes up for the trials of some deferred formats.
    func makeUpForTrials(where isNeeded: (TrialPlan) -> Bool) {
        for next in takeDeferred(isNeeded) {
            let candidate = Candidate(next.plan, aligned: isAligned, order: next.order)
            makeUp(for: candidate)
            if !candidate.isOut { candidates.append(candidate) }
        }
        sortCandidates()
    }

    private var strongestDeferred: Int? { deferred.map(\.plan.strength).max() }

    /// Formats weaker than this have to wait.
    private var blockedBelow: Int {
        var strength = 0
        for candidate in candidates where candidate.plan.strength > strength && isBlocking(candidate) {
            strength = candidate.plan.strength
        }
        return strength
    }

    private func takeDeferred(_ isTaken: (TrialPlan) -> Bool) -> [Deferred] {
        let taken = deferred.filter { isTaken($0.plan) }
        deferred.removeAll { isTaken($0.plan) }
        return taken
    }

    private func sortCandidates() { candidates.sort { $0.order < $1.order } }

    /// Passes a trial what the others have seen: up to the same positions, so that its verdict is the same.
    private func makeUp(for candidate: Candidate) {
        var position = PerDirection(fromClient: 0, fromServer: 0)
        let held = held
        for event in held.events[..<min(taken + 1, held.events.count)] {
            let direction = event.direction
            switch event.kind {
            case .received:
                let count = min(event.count, limit - position[direction])
                let chunk = held.bytes.span.bytes.extracting(event.place..<event.place + count)
                if candidate.takesChunks {
                    candidate.receive(chunk, from: direction)
                } else {
                    let end = min(count, fed[direction] - position[direction])
                    feed(candidate, chunk.extracting(0..<max(0, end)), at: position[direction], of: direction)
                }
                position[direction] += count
            case .missing: candidate.missing(event.count, from: direction)
            case .finished: candidate.finish(direction)
            case .noticed, .opened, .closed, .advanced, .learned: continue
            }
        }
    }

    private func feed(_ candidate: Candidate, _ bytes: RawSpan, at offset: Int, of direction: Direction) {
        var at = 0
        while at < bytes.byteCount {
            let step = min(candidate.steady(bytes.extracting(at..<bytes.byteCount), from: direction), limit)
            let end = min(Self.place(atOrBehind: offset + at + step) - offset, bytes.byteCount)
            candidate.receive(bytes.extracting(at..<end), from: direction)
            at = end
        }
    }
}
