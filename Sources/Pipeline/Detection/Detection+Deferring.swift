import BitCollections
import Framing
import Streams

/// A format that has to wait for a stronger one goes on trial only when it no longer has to: it is then fed the held events. Most
/// connections are recognised without that.
extension Detection {
    /// Begins the trials of the strongest of the deferred formats, down to one that makes weaker ones wait.
    ///
    /// - Parameter direction: the sender of the first bytes; nil if there are none.
    func beginStrongest(_ direction: Direction?) {
        while let strength = strongestDeferred {
            let begun = takeDeferred { $0.strength == strength || $0.detection.replaces != nil }
            candidates += begun.map { Candidate(plans[$0], aligned: isAligned, order: $0) }
            if let direction, candidates.contains(where: { $0.blocks && $0.asks(direction) }) { break }
        }
        sortCandidates()
    }

    /// Begins the trials of the formats that no longer have to wait, with the held events.
    func catchUp() {
        while let strength = strongestDeferred, strength >= blockedBelow {
            catchUp { $0.strength == strength }
        }
    }

    /// The same for some of the deferred formats, whether they have to wait or not.
    func catchUp(where isNeeded: (TrialPlan) -> Bool) {
        for order in takeDeferred(isNeeded) {
            let candidate = Candidate(plans[order], aligned: isAligned, order: order)
            feedHeld(to: candidate)
            if !candidate.isOut { candidates.append(candidate) }
        }
        sortCandidates()
    }

    /// Drops the deferred formats that cannot be in what was seen of streams picked up mid-stream, if no more of them will be seen.
    func dropImpossible() {
        guard !isAligned, !deferred.isEmpty, let streams = heldStreams else { return }
        _ = takeDeferred { !$0.mayFit(midStream: streams) }
    }

    /// All that was seen of both directions, if it is short and has no gaps.
    private var heldStreams: PerDirection<[UInt8]>? {
        guard held.bytes.count <= 2_048 else { return nil }
        var streams = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
        for event in held.events {
            switch event.kind {
            case .received:
                let chunk = held.bytes.span.bytes.extracting(event.place..<event.place + event.count)
                streams[event.direction].append(contentsOf: chunk)
            case .missing: return nil
            case .finished, .noticed, .opened, .closed, .advanced, .learned: continue
            }
        }
        let longest = max(streams.fromClient.count, streams.fromServer.count)
        return longest <= limit ? streams : nil
    }

    private var strongestDeferred: Int? {
        var strongest: Int?
        for order in deferred { strongest = max(strongest ?? .min, plans[order].strength) }
        return strongest
    }

    /// Formats weaker than this have to wait.
    private var blockedBelow: Int {
        var strength = 0
        for candidate in candidates where candidate.plan.strength > strength && isBlocking(candidate) {
            strength = candidate.plan.strength
        }
        return strength
    }

    private func takeDeferred(_ isTaken: (TrialPlan) -> Bool) -> BitSet {
        let taken = deferred.filter { isTaken(plans[$0]) }
        deferred.subtract(taken)
        return taken
    }

    private func sortCandidates() { candidates.sort { $0.order < $1.order } }

    /// Passes a trial what the others have seen, up to the same positions, so that its verdict is the same.
    private func feedHeld(to candidate: Candidate) {
        var position = PerDirection(fromClient: 0, fromServer: 0)
        // Bytes that wait for the next position.
        var rest = PerDirection<[UInt8]>(fromClient: [], fromServer: [])
        func flush(_ direction: Direction) {
            var bytes: [UInt8] = []
            swap(&bytes, &rest[direction])
            if !bytes.isEmpty { candidate.receive(bytes.span.bytes, from: direction) }
        }
        let held = held
        for event in held.events[..<min(taken + 1, held.events.count)] {
            let direction = event.direction
            switch event.kind {
            case .received:
                flush(direction.opposite)
                let count = min(event.count, limit - position[direction])
                let chunk = held.bytes.span.bytes.extracting(event.place..<event.place + count)
                if candidate.takesChunks {
                    candidate.receive(chunk, from: direction)
                } else {
                    let start = position[direction] - rest[direction].count
                    let known = max(0, min(count, fed[direction] - position[direction]))
                    let bytes = rest[direction] + chunk.copied(0..<known)
                    let used = feed(candidate, bytes.span.bytes, at: start, of: direction)
                    rest[direction] = Array(bytes[used...])
                }
                position[direction] += count
            case .missing:
                flush(direction)
                candidate.missing(event.count, from: direction)
            case .finished:
                flush(direction)
                candidate.finish(direction)
            case .noticed, .opened, .closed, .advanced, .learned: continue
            }
        }
        // The others have been fed these, too.
        for direction in Direction.allCases { flush(direction) }
    }

    /// Feeds bytes up to each fixed position; returns how many were passed.
    private func feed(_ candidate: Candidate, _ bytes: RawSpan, at offset: Int, of direction: Direction) -> Int {
        if !candidate.settlesOnTheWay {
            candidate.receive(bytes, from: direction)
            return bytes.byteCount
        }
        var at = 0
        while at < bytes.byteCount {
            let step = min(candidate.steady(bytes.extracting(at..<bytes.byteCount), from: direction), limit)
            var end = min(Self.place(atOrAfter: offset + at + step), limit) - offset
            if end > bytes.byteCount { end = Self.place(atOrBefore: offset + bytes.byteCount) - offset }
            guard end > at else { break }
            candidate.receive(bytes.extracting(at..<end), from: direction)
            at = end
        }
        return at
    }
}
