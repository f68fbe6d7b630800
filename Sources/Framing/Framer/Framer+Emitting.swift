import Streams

extension Framer {
    /// Passes on what was recorded, frames with their bytes.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of the frames in the scratch; those of the held frame are in `pending`.
    ///   - base: the stream offset of the first of them.
    ///   - firstIndex: the number of the first frame there.
    ///   - isUnfinished: whether another frame has begun after them.
    mutating func emit(
        from bytes: RawSpan, at base: Int, firstIndex: Int, isUnfinished: Bool, scratch: FramingScratch,
        into receiver: any FrameReceiver
    ) {
        let before = scratch.counted + (scratch.heldFrame == nil ? 0 : 1)
        let companions = before + scratch.items.count + (isUnfinished ? 1 : 0)
        let began = beganAs
        if isUnfinished, origin >= latest.range.lowerBound { beganAs = companions }
        var nextRun = 0
        if scratch.runs.isEmpty, !scratch.endsEarlier {
            // The usual case: what was held, and frames that end in the newest chunk.
            if scratch.heldFrame != nil { emitHeldFrame(companions, began, scratch, into: receiver) }
            if !scratch.items.isEmpty {
                let batch = FrameBatch(
                    scratch, range: 0..<scratch.items.count, origin: base, firstIndex: firstIndex,
                    chunk: latest, before: before, companions: companions)
                receiver.framed(batch, in: bytes, from: direction)
            }
            scratch.reset()
            return
        }
        if scratch.heldFrame != nil {
            while nextRun < scratch.runs.count, scratch.runs[nextRun].isBeforeHeld {
                receiver.unframed(scratch.runs[nextRun].run, from: direction)
                nextRun += 1
            }
            emitHeldFrame(companions, began, scratch, into: receiver)
        }
        var next = 0
        var group = ChunkGroup()
        func batch(to end: Int) -> FrameBatch {
            FrameBatch(
                scratch, range: next..<end, origin: base, firstIndex: firstIndex, chunk: latest,
                before: before, companions: companions)
        }
        while nextRun < scratch.runs.count || next < scratch.items.count {
            let end = nextRun < scratch.runs.count ? scratch.runs[nextRun].framesBefore : scratch.items.count
            if next < end {
                if scratch.endsEarlier {
                    emitOneByOne(
                        batch(to: end), of: scratch.items.count, isUnfinished: isUnfinished, bytes, &group,
                        into: receiver)
                } else {
                    receiver.framed(batch(to: end), in: bytes, from: direction)
                }
                next = end
            }
            if nextRun < scratch.runs.count {
                receiver.unframed(scratch.runs[nextRun].run, from: direction)
                nextRun += 1
            }
        }
        scratch.reset()
    }

    /// Passes on the frame that was held.
    private mutating func emitHeldFrame(
        _ companions: Int, _ began: Int, _ scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        scratch.heldFrame?.companions = companions
        if companions == 1, began > 1 {
            // It is alone in the chunk where it ends, but was the last of several in the one where it began.
            scratch.heldFrame?.position = began
            scratch.heldFrame?.companions = began
        }
        if let held = scratch.heldFrame {
            receiver.framed(
                held, bytes: pending.storage.span.bytes.extracting(0..<pending.count), from: direction)
        }
        pending.removeAll(scratch)
    }

    /// Recorded frames that follow one another and end in the same chunk.
    private struct ChunkGroup {
        var frames = 0..<0
        /// How many frames have bytes in the chunk: the one after them may begin there.
        var companions = 0
    }

    /// Passes on frames that did not all end in the newest chunk: each is counted among those of the chunk it ended in.
    ///
    /// - Parameter group: the frames of the chunk in which the last frame passed on ended. Each group is determined once: a large
    ///   chunk may have very many frames.
    private func emitOneByOne(
        _ batch: FrameBatch, of count: Int, isUnfinished: Bool, _ bytes: RawSpan, _ group: inout ChunkGroup,
        into receiver: any FrameReceiver
    ) {
        for index in 0..<batch.count {
            let item = batch[index]
            var info = batch.info(index)
            let own = batch.range.lowerBound + index
            if own >= group.frames.upperBound {
                group = chunkGroup(from: own, of: count, in: batch, isUnfinished: isUnfinished)
            }
            info.position = own - group.frames.lowerBound + 1
            info.companions = group.companions
            receiver.framed(
                info, bytes: bytes.extracting(item.start..<item.start + item.shape.total), from: direction)
        }
    }

    /// The frames that end in the same chunk as the recorded frame `start`, which is the first of them.
    private func chunkGroup(
        from start: Int, of count: Int, in batch: FrameBatch, isUnfinished: Bool
    ) -> ChunkGroup {
        func chunk(_ index: Int) -> Range<Int> {
            let extent = batch.noted(index).extent
            return extent < 0 ? batch.chunk.range : batch.extent(Int(extent)).last.range
        }
        let place = chunk(start)
        var end = start + 1
        while end < count, chunk(end) == place { end += 1 }
        let follower =
            end < count
            ? batch.origin + batch.noted(end).start : isUnfinished ? origin : Int.max
        return ChunkGroup(frames: start..<end, companions: end - start + (follower < place.upperBound ? 1 : 0))
    }
}
