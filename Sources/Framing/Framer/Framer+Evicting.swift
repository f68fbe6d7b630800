import Streams

extension Framer {
    /// Gives up what is held of a frame that is not complete, to free its memory: it is unframed, `memory-limit`.
    ///
    /// Where the frame's extent is known, its rest is unframed too when it comes, and framing goes on exactly behind it; else it
    /// goes on where frames chain again.
    ///
    /// - Parameter cause: for people, behind "when": which limit was reached.
    package mutating func evict(because cause: String, scratch: FramingScratch, into receiver: any FrameReceiver) {
        lookAgain(scratch: scratch, into: receiver)
        let end = shape.map { origin + $0.total }
        let hadFrame = isAligned && !pending.isEmpty
        giveUp(.memoryLimit, because: cause, scratch: scratch)
        closeRun(nil, scratch)
        emitHeld(scratch, into: receiver)
        memory.restart(at: origin)
        (wanted, shape) = (0, nil)
        // What the search looked at is gone.
        search = nil
        guard hadFrame else { return }
        if let end, end > origin {
            mode = .skipping(to: end, detail: "the rest of a frame that was abandoned when \(cause)")
        } else {
            resynchronise(.memoryLimit, "behind a frame that was abandoned when \(cause)")
        }
    }

    /// Takes the next bytes of a frame that was given up; returns how many they are.
    mutating func skip(_ bytes: RawSpan, to end: Int, _ detail: String, scratch: FramingScratch) -> Int {
        let count = min(bytes.byteCount, end - origin)
        markUnframed(bytes.extracting(0..<count), BadBytes(.memoryLimit, detail), scratch: scratch)
        guard origin >= end else { return count }
        closeRun("framing goes on at offset \(end), behind that frame", scratch)
        mode = .aligned
        return count
    }
}
