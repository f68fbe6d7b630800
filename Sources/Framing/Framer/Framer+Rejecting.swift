import Streams

/// Bytes that are no frame, at their first byte or only at their end.
extension Framer {
    /// Marks bytes at which no frame starts, and begins a search after them, unless a frame is known to start there.
    ///
    /// - Parameter bytes: the available bytes from there on.
    /// - Returns: how many are marked.
    mutating func reject(_ bad: BadBytes, _ bytes: RawSpan, scratch: FramingScratch) -> Int {
        // A whole bad head is a run of its own; otherwise the run continues to the next frame.
        let count = min(max(bad.byteCount ?? 1, 1), bytes.byteCount)
        markUnframed(bytes.extracting(0..<count), bad, scratch: scratch)
        if bad.byteCount == nil {
            resynchronise(bad.reason, bad.detail)
        } else if bad.areDelimited, shared.endsAreCertain {
            // Nothing is held: what is relayed can be passed on.
            closeRun(nil, scratch)
        } else {
            resynchronise(.noSync, "after a bad head")
        }
        return count
    }

    /// Rejects the frame that is held, all of it, if its end is wrong.
    ///
    /// - Parameter rest: the bytes after it.
    /// - Returns: whether it was rejected; then the rest is held or framed.
    mutating func rejectsHeldFrame(
        _ shape: FrameShape, before rest: RawSpan, scratch: FramingScratch, into receiver: any FrameReceiver
    ) -> Bool {
        // Of an end that was not seen, nothing can be said.
        guard mayReject(shape), gaps.isEmpty,
            let bad = shared.badEnd(
                of: pending.storage.span.bytes.extracting(0..<pending.count), shape, at: origin)
        else { return false }
        if hasRun { closeRun(nil, scratch) }
        self.shape = nil
        pending.append(rest)
        var held = pending.take()
        let count = reject(bad, held.storage.span.bytes.extracting(0..<held.count), scratch: scratch)
        held.removeFirst(count)
        pending = held
        cutHeld(followedBy: .more, scratch: scratch, into: receiver)
        return true
    }

    /// Whether the end of a frame may show that it is none, so that others may begin inside it.
    @inline(__always)
    func mayReject(_ shape: FrameShape) -> Bool { shared.checksEnds && shape.tail > 0 }
}
