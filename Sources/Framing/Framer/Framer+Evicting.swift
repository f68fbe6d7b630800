import Streams

extension Framer {
    /// Discards the held part of an incomplete frame, to free its memory: it becomes unframed, `memory-limit`.
    ///
    /// If the frame's extent is known, its rest is unframed too when it arrives, and framing continues right after it; otherwise
    /// it continues where frames chain again.
    ///
    /// - Parameter cause: human-readable, following "when": which limit was reached.
    package mutating func evict(because cause: String, scratch: FramingScratch, into receiver: any FrameReceiver) {
        lookAgain(scratch: scratch, into: receiver)
        let end = shape.map { origin + $0.total }
        let hadFrame = isAligned && !pending.isEmpty
        giveUp(.memoryLimit, because: cause, scratch: scratch)
        closeRun(nil, scratch)
        emitHeld(scratch, into: receiver)
        memory.restart(at: origin)
        (wanted, shape) = (0, nil)
        // The bytes that the search examined are gone.
        search = nil
        guard hadFrame else { return }
        // The frame may have led to another state, and was a request or an answer.
        shared.conversation?.lost(direction)
        if let end, end > origin {
            mode = .skipping(to: end, detail: "the rest of a frame that was abandoned when \(cause)")
        } else {
            resynchronise(.memoryLimit, "after a frame that was abandoned when \(cause)")
        }
    }

    /// Skips the next bytes of a discarded frame; returns how many.
    mutating func skip(_ bytes: RawSpan, to end: Int, _ detail: String, scratch: FramingScratch) -> Int {
        let count = min(bytes.byteCount, end - origin)
        markUnframed(bytes.extracting(0..<count), BadBytes(.memoryLimit, detail), scratch: scratch)
        guard origin >= end else { return count }
        closeRun("framing goes on at offset \(end), after that frame", scratch)
        mode = .aligned
        return count
    }
}
