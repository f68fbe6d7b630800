import Streams

extension Framer {
    /// The next `byteCount` bytes of the stream were not seen.
    ///
    /// A gap inside a body whose extent is known loses bytes, not synchronisation: the frame is completed with zeros, or evicted if
    /// these would take too much memory. Any other gap ends the frame in progress, and framing resumes where frames chain again.
    package mutating func missing(
        _ byteCount: Int, at time: Timestamp, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        lookAgain(scratch: scratch, into: receiver)
        let gap = origin + seen
        var filled = 0
        let inFrame = shape.map { min(byteCount, $0.total - seen) } ?? 0
        if inFrame > Self.mostZeros, let shape, !shared.streams(shape) {
            evict(because: "a gap of \(byteCount) bytes began", scratch: scratch, into: receiver)
        } else if let shape, pending.count >= shape.head {
            filled = inFrame
            gaps.append(seen..<seen + filled)
            keep(zeros: filled, shape)
            latest = ChunkPlace(range: gap..<gap + filled, time: time, packet: latest.packet)
        } else {
            giveUp(because: "a gap of \(byteCount) bytes began", scratch: scratch)
        }
        closeRun(nil, scratch)
        emitHeld(scratch, into: receiver)
        counts.missing += byteCount
        receiver.missing(offset: gap, byteCount: byteCount, from: direction, at: time)
        if let shape, seen == shape.total {
            finishHeldFrame(shape, scratch: scratch)
            emitHeld(scratch, into: receiver)
        }
        if filled < byteCount {
            shared.conversation?.lost(direction)
            origin += byteCount - filled
            memory.restart(at: origin)
            if case .skipping(let end, _) = mode, origin <= end { return }
            if let reason = shared.conversation?.undecodable(direction, at: origin) {
                resynchronise(.notDetected, reason)
            } else {
                resynchronise(.afterGap, "after a gap of \(byteCount) bytes at offset \(gap)")
            }
        }
    }

    /// At most this many zeros are kept for one gap: a sequence number alone makes a gap.
    private static let mostZeros = 16 << 20

    /// The stream ended: held bytes are passed on, as a frame if the rule lets the end complete it.
    package mutating func finish(scratch: FramingScratch, into receiver: any FrameReceiver) {
        if !pending.isEmpty, shape == nil {
            cutHeld(followedBy: .end, scratch: scratch, into: receiver)
        }
        giveUp(because: "the stream ended", scratch: scratch)
        closeRun(nil, scratch)
        emitHeld(scratch, into: receiver)
    }

    /// Examines held bytes before they are given up: fewer bytes than were waited for may show that no frame starts there, as
    /// they would have in one chunk. A search waits no longer for the end of a frame: others may begin after its start.
    mutating func lookAgain(scratch: FramingScratch, into receiver: any FrameReceiver) {
        guard !pending.isEmpty, shape == nil, pending.count < wanted else { return }
        cutHeld(followedBy: .gap, scratch: scratch, into: receiver)
    }

    /// Passes on what was recorded, without any available bytes.
    mutating func emitHeld(_ scratch: FramingScratch, into receiver: any FrameReceiver) {
        emit(
            from: RawSpan(), at: origin, firstIndex: counts.frames, isUnfinished: false, scratch: scratch,
            into: receiver)
    }

    /// Passes on held bytes as unframed.
    ///
    /// - Parameter reason: why, if a frame is in progress.
    mutating func giveUp(_ reason: UnframedReason = .incomplete, because cause: String, scratch: FramingScratch) {
        guard !pending.isEmpty else { return }
        let seen = seen
        let held = pending.take()
        let bytes = held.storage.span.bytes.extracting(0..<held.count)
        let bad: BadBytes
        if case .searching(let reason, let detail) = mode {
            bad = BadBytes(reason, detail)
        } else {
            closeRun(nil, scratch)
            bad = BadBytes(
                reason, "\(rule.progress(bytes, of: seen, shape: shape)) when \(cause)", explains: memory.explains)
        }
        var at = 0
        for gap in gaps + [seen..<seen] {
            let kept = min(max(at, held.count), gap.lowerBound)
            if at < kept { markUnframed(bytes.extracting(at..<kept), bad, scratch: scratch) }
            markUnframed(streamed: gap.lowerBound - kept, bad, scratch: scratch)
            if !gap.isEmpty {
                closeRun(nil, scratch)
                origin += gap.count
            }
            at = gap.upperBound
        }
        gaps = []
        (shape, body) = (nil, nil)
        chunks.removeAll()
    }
}
