import Streams

extension Framer {
    /// Ends the frame under way if its bytes so far are all of it, for a receiver that knows what its peer says: the rule
    /// itself would wait for the next frame or for a pause. What comes next continues no frame.
    package mutating func endFrame(
        where isWhole: (RawSpan) -> Bool, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        guard case .aligned = mode, !pending.isEmpty,
            isWhole(pending.storage.span.bytes.extracting(0..<pending.count))
        else { return }
        cutHeld(ended: true, scratch: scratch, into: receiver)
        resynchronise(.noSync, "behind a frame that was whole")
    }
}
