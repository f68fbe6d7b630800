import Streams

/// Bytes that belong to no frame, in runs of the same reason.
extension Framer {
    /// Adds the bytes at `origin` to the unframed run, in pieces of bounded size, and moves `origin` past them. Where nobody reads them,
    /// while formats are on trial, they are only counted.
    mutating func markUnframed(_ bytes: RawSpan, _ bad: BadBytes, scratch: FramingScratch) {
        var at = 0
        while at < bytes.byteCount {
            let keepsBytes = memory.explains
            if let run,
                run.reason != bad.reason || run.byteCount == UnframedRun.longest || keepsBytes && run.streamed > 0
            {
                closeRun(nil, scratch)
            }
            var open =
                run ?? UnframedRun(offset: origin, bytes: [], time: latest.time, reason: bad.reason, detail: bad.detail)
            run = nil
            let count = min(bytes.byteCount - at, UnframedRun.longest - open.byteCount)
            if keepsBytes {
                open.bytes.append(contentsOf: bytes.extracting(at..<at + count))
            } else {
                open.streamed += count
            }
            at += count
            origin += count
            counts.unframed += count
            open.time =
                origin > latest.range.lowerBound ? latest.time : chunks.time(ofByteAt: origin - 1) ?? latest.time
            run = open
        }
    }

    /// Ends the unframed run and records it.
    mutating func closeRun(_ resumed: String?, _ scratch: FramingScratch) {
        guard var closed = run else { return }
        run = nil
        if let resumed { closed.detail += "; " + resumed }
        scratch.runs.append(
            FramingScratch.CompleteRun(
                run: closed, framesBefore: scratch.items.count, isBeforeHeld: scratch.heldFrame == nil))
    }

    /// Adds bytes at `origin` to the unframed runs, which were streamed as part of a body and not kept.
    mutating func markUnframed(streamed count: Int, _ bad: BadBytes, scratch: FramingScratch) {
        guard count > 0 else { return }
        closeRun(nil, scratch)
        let detail = bad.detail + "; of a body as large as this, only the first \(shared.keptBody) bytes are kept"
        var left = count
        while left > 0 {
            let piece = min(left, UnframedRun.longest)
            let time =
                origin + piece > latest.range.lowerBound ? latest.time : chunks.time(ofByteAt: origin + piece - 1)
            var run = UnframedRun(
                offset: origin, bytes: [], time: time ?? latest.time, reason: bad.reason, detail: detail)
            run.streamed = piece
            self.run = run
            origin += piece
            counts.unframed += piece
            left -= piece
            closeRun(nil, scratch)
        }
    }
}
