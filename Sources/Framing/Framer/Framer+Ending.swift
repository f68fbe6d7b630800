import Streams

extension Framer {
    /// Ends the frame in progress if its bytes so far are complete, for a receiver that knows its peer's messages: the rule
    /// itself would wait for the next frame or for a pause. The next bytes start a new frame.
    package mutating func endFrame(
        where isWhole: (RawSpan) -> Bool, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        guard case .aligned = mode, !pending.isEmpty,
            isWhole(pending.storage.span.bytes.extracting(0..<pending.count))
        else { return }
        cutHeld(followedBy: .end, scratch: scratch, into: receiver)
        resynchronise(.noSync, "after a frame that was whole")
    }
}
