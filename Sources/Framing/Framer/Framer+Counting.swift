import Streams

/// Frames of which only a count is wanted: framing, kind and check are one loop, and nothing is recorded.
extension Framer {
    /// How far counting got in a chunk.
    package struct Counted {
        /// How many bytes of the chunk are taken. The rest begins with a frame that has to be looked at.
        package var bytes: Int
        /// How many frames were counted.
        package var frames: Int
        /// Approximately how much memory is held now.
        package var held = 0
    }

    /// Counts the frames of a chunk up to the first one that a sieve has to look at, with the same results as `receive`.
    ///
    /// It calls nothing back: `tally` belongs to the receiver of the frames. If not all bytes are taken, pass the rest to
    /// `receive(restOf:)`.
    package mutating func count(
        _ chunk: RawSpan, at time: Timestamp, packet: Int, by sieve: FrameSieve, _ tally: inout FrameSieve.Counts,
        scratch: FramingScratch
    ) -> Counted {
        guard let lengths = shared.lengths, let kindPlace = sieve.countedBy, isPlain else {
            return Counted(bytes: 0, frames: 0)
        }
        let start = origin &+ pending.count
        let end = chunk.byteCount
        var counted = Counted(bytes: 0, frames: 0)
        let place = ChunkPlace(
            range: Range(uncheckedBounds: (start, start &+ end)), time: time, packet: packet)
        if !pending.isEmpty {
            guard let taken = completeHeld(with: chunk, sieve, place, &tally, scratch) else { return counted }
            latest = place
            guard pending.isEmpty else { return Counted(bytes: end, frames: 0, held: heldMemory) }
            counted = Counted(bytes: taken, frames: 1)
        } else {
            latest = place
        }
        var at = counted.bytes
        var frames = 0
        var merged = 0
        // The length of the frame that does not end here; and whether a frame has to be looked at.
        var (next, isStopped): (Int?, Bool) = (nil, false)
        while end &- at >= lengths.head {
            guard let total = lengths.total(in: chunk, at: at), total <= shared.streamedAbove else {
                isStopped = true
                break
            }
            guard total <= end &- at else {
                next = total
                break
            }
            guard
                sieve.counts(
                    chunk.extracting(unchecked: Range(uncheckedBounds: (at, at &+ total))), by: kindPlace, lengths,
                    &tally)
            else {
                isStopped = true
                break
            }
            if total < end { merged &+= 1 }
            frames &+= 1
            at &+= total
        }
        // Constants are checked as soon as they are there, and a fault is reported then.
        if at < end, next == nil, !isStopped {
            isStopped = !lengths.constants.match(beginning: chunk.extracting(unchecked: at..<end))
        }
        tally.merged &+= merged
        counts.frames &+= frames
        counts.framed &+= at &- counted.bytes
        origin &+= at &- counted.bytes
        counted.frames &+= frames
        counted.bytes = at
        if at < end, !isStopped {
            hold(
                chunk.extracting(unchecked: Range(uncheckedBounds: (at, end))), next, lengths, after: counted.frames,
                scratch)
            counted.bytes = end
        }
        counted.held = heldMemory
        return counted
    }

    /// Takes the rest of a chunk of which some frames were counted.
    ///
    /// - Returns: approximately how much memory is held now.
    package mutating func receive(
        restOf chunk: RawSpan, after counted: Counted, at time: Timestamp, packet: Int, scratch: FramingScratch,
        into receiver: any FrameReceiver
    ) -> Int {
        guard counted.bytes > 0 else {
            return receive(chunk, at: time, packet: packet, scratch: scratch, into: receiver)
        }
        scratch.counted = counted.frames
        cutInPlace(chunk.extracting(counted.bytes..<chunk.byteCount), scratch: scratch, into: receiver)
        scratch.counted = 0
        return heldMemory
    }

    /// Whether the next byte belongs to a frame of which nothing is missing or streamed.
    @inline(__always)
    private var isPlain: Bool { isAligned && !hasRun && !isUnderWay && gaps.isEmpty }

    /// Completes the held frame and counts it; what does not complete it is held.
    ///
    /// - Returns: how many bytes of the chunk were taken; nil if the frame has to be looked at. Then nothing has changed.
    @inline(__always)
    private mutating func completeHeld(
        with chunk: RawSpan, _ sieve: FrameSieve, _ place: ChunkPlace, _ tally: inout FrameSieve.Counts,
        _ scratch: FramingScratch
    ) -> Int? {
        // Not passed on: as an argument, they would be copied to memory for each chunk.
        guard let lengths = shared.lengths, let kindPlace = sieve.countedBy else { return nil }
        let before = pending.count
        var taken = 0
        let total: Int
        if let shape {
            total = shape.total
        } else {
            taken = min(lengths.head &- before, chunk.byteCount)
            pending.append(
                chunk.extracting(unchecked: Range(uncheckedBounds: (0, taken))), of: lengths.head, scratch)
            guard pending.count >= lengths.head else {
                chunks.append(place)
                return taken
            }
            guard let found = lengths.total(in: pending.storage.span.bytes.extracting(0..<pending.count), at: 0) else {
                pending.truncate(to: before)
                return nil
            }
            total = found
        }
        guard total <= shared.streamedAbove else {
            pending.truncate(to: before)
            return nil
        }
        let rest = min(total &- pending.count, chunk.byteCount &- taken)
        pending.append(chunk.extracting(unchecked: Range(uncheckedBounds: (taken, taken &+ rest))), of: total, scratch)
        taken &+= rest
        guard pending.count == total else {
            chunks.append(place)
            if shape == nil {
                shape = lengths.shape(total)
                chunks.count()
            }
            return taken
        }
        guard sieve.counts(pending.storage.span.bytes.extracting(0..<pending.count), by: kindPlace, lengths, &tally)
        else {
            pending.truncate(to: before)
            return nil
        }
        tally.split &+= 1
        if chunks.start < origin || taken < chunk.byteCount { tally.merged &+= 1 }
        pending.removeAll(scratch)
        chunks.removeAll()
        shape = nil
        counts.frames &+= 1
        counts.framed &+= total
        origin &+= total
        return taken
    }

    /// Holds the bytes of an incomplete frame.
    @inline(__always)
    private mutating func hold(
        _ bytes: RawSpan, _ total: Int?, _ lengths: PlainLengths, after frames: Int, _ scratch: FramingScratch
    ) {
        pending.append(bytes, of: total ?? 0, scratch)
        chunks.begin(with: latest, isCounted: total != nil)
        beganAs = frames &+ 1
        if let total {
            shape = lengths.shape(total)
            wanted = 0
        } else {
            shape = nil
            wanted = lengths.head
        }
    }
}
