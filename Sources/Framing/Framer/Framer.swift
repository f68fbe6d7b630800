import Streams

/// Cuts one direction of a connection into frames.
///
/// It takes chunks and holes in stream order, asks its rule where frames end, and hands on frames, unframed runs and
/// holes. A frame that lies whole in a chunk is borrowed from it; only one that is split is copied. Memory is bounded
/// by the rule's limits: nothing is reserved because a length field says so.
///
/// The results depend on the bytes, not on how they were cut, except `segments`, `merged` and what follows from them.
public struct Framer {
    /// Whose bytes these are.
    public let direction: Direction
    /// What became of the bytes so far; those held are not counted yet.
    public internal(set) var counts = ByteCounts()

    let rule: any FramingRule
    var mode: Mode
    var memory = ScanMemory()

    /// Bytes not yet given away: the start of a frame, or what a search holds. `origin` is their stream offset.
    var pending: [UInt8] = []
    var origin = 0
    /// The extent of the frame that starts `pending`, once known.
    var shape: FrameShape?
    /// How many bytes `pending` needs at least before it is worth another look.
    var wanted = 0
    /// The chunks that `pending` lies in.
    var chunks = HeldChunks()
    /// Holes inside `pending`, as ranges of it.
    var holes: [Range<Int>] = []
    /// The unframed run that is being collected.
    var run: UnframedRun?
    /// The newest chunk.
    var latest = ChunkPlace(range: 0..<0, time: Timestamp(nanoseconds: 0), packet: 0)

    enum Mode {
        /// The next byte starts a frame.
        case aligned
        /// The next frame's start is to be found; what is passed over is unframed for `reason`.
        case searching(reason: UnframedReason, detail: String)
    }

    /// A framer at the start of a stream.
    ///
    /// - Parameter aligned: whether the stream's first byte is known to be a frame's first.
    public init(rule: any FramingRule, direction: Direction, aligned: Bool) {
        self.rule = rule
        self.direction = direction
        mode = aligned ? .aligned : .searching(reason: .noSync, detail: "picked up in the middle")
        if !aligned { memory.opening = nil }
    }

    /// How many bytes are held until more of the stream is known.
    public var heldBytes: Int { pending.count + (run?.bytes.count ?? 0) }

    /// How many of the bytes at hand prove that a frame starts with them.
    var proof: Int? {
        guard case .aligned = mode, !pending.isEmpty else { return nil }
        return rule.proof(pending.span.bytes)
    }

    /// When a frame is over if its sender goes on pausing; nil where no pause ends one.
    public var idleDeadline: Timestamp? {
        guard let idle = rule.idle, case .aligned = mode, !pending.isEmpty else { return nil }
        return latest.time + idle
    }

    /// Ends the frame under way if its sender has paused for too long; what comes next continues no frame.
    public mutating func pause(
        until time: Timestamp, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        guard let deadline = idleDeadline, deadline < time else { return }
        cutHeld(ended: true, scratch: scratch, into: receiver)
        mode = .searching(reason: .noSync, detail: "behind a pause that ended a frame")
    }

    /// The next bytes of the stream, which are not empty.
    public mutating func receive(
        _ chunk: RawSpan, at time: Timestamp, packet: Int, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        if rule.idle != nil { pause(until: time, scratch: scratch, into: receiver) }
        let start = origin + pending.count
        latest = ChunkPlace(range: start..<start + chunk.byteCount, time: time, packet: packet)
        if pending.isEmpty {
            cutInPlace(chunk, scratch: scratch, into: receiver)
            return
        }
        chunks.append(latest)
        if let shape {
            // The end of the frame is known: take what it still needs, and look at the rest in the chunk itself.
            let taken = min(shape.total - pending.count, chunk.byteCount)
            pending.append(contentsOf: chunk.extracting(0..<taken))
            guard pending.count == shape.total else { return }
            finishHeldFrame(shape, scratch: scratch)
            cutInPlace(chunk.extracting(taken..<chunk.byteCount), scratch: scratch, into: receiver)
        } else {
            pending.append(contentsOf: chunk)
            guard pending.count >= wanted else { return }
            cutHeld(ended: false, scratch: scratch, into: receiver)
        }
    }

    /// Looks for frames in a chunk's bytes where they are, and keeps what is left.
    private mutating func cutInPlace(_ bytes: RawSpan, scratch: FramingScratch, into receiver: any FrameReceiver) {
        let used = cut(bytes, ended: false, scratch: scratch)
        if used < bytes.byteCount {
            pending.append(contentsOf: bytes.extracting(used..<bytes.byteCount))
            chunks.append(latest)
            if shape != nil { chunks.count() }
        }
        emit(from: bytes, scratch: scratch, into: receiver)
    }

    /// Looks for frames in the bytes held so far, and keeps what is left.
    mutating func cutHeld(ended: Bool, scratch: FramingScratch, into receiver: any FrameReceiver) {
        var buffer: [UInt8] = []
        swap(&buffer, &pending)
        let used = cut(buffer.span.bytes, ended: ended, scratch: scratch)
        if used < buffer.count { pending = used == 0 ? buffer : Array(buffer[used...]) }
        if pending.isEmpty { chunks.removeAll() } else { chunks.drop(before: origin, latest: latest) }
        if shape != nil { chunks.count() }
        emit(from: buffer.span.bytes, scratch: scratch, into: receiver)
    }

    /// Cuts as many frames as there are out of `bytes`, which start at `origin`; moves `origin` on and returns how many
    /// bytes are used up.
    private mutating func cut(_ bytes: RawSpan, ended: Bool, scratch: FramingScratch) -> Int {
        let first = origin
        var at = 0
        wanted = 0
        shape = nil
        while at < bytes.byteCount {
            switch mode {
            case .searching(let reason, let detail):
                switch rule.resume(bytes, from: at, origin: first, ended: ended, memory: &memory) {
                case .found(let start, let how):
                    passOver(bytes.extracting(at..<start), BadBytes(reason, detail), scratch: scratch)
                    closeRun("back in step at offset \(first + start): \(how)", scratch)
                    at = start
                    mode = .aligned
                case .undecided(let start):
                    passOver(bytes.extracting(at..<start), BadBytes(reason, detail), scratch: scratch)
                    return start
                }
            case .aligned:
                switch rule.scan(bytes, from: at, origin: first, ended: ended, memory: &memory) {
                case .shape(let found):
                    guard at + found.total <= bytes.byteCount else {
                        shape = found
                        return at
                    }
                    add(found, start: at, scratch: scratch)
                    at += found.total
                    origin += found.total
                case .incomplete(let atLeast):
                    wanted = atLeast
                    return at
                case .padding(let count):
                    closeRun(nil, scratch)
                    counts.padding += count
                    at += count
                    origin += count
                case .bad(let bad):
                    // A whole head that is bad is a run of its own; otherwise the run goes on to the next frame.
                    let count = min(max(bad.byteCount ?? 1, 1), bytes.byteCount - at)
                    closeRun(nil, scratch)
                    passOver(bytes.extracting(at..<at + count), bad, scratch: scratch)
                    at += count
                    mode =
                        bad.byteCount == nil
                        ? .searching(reason: bad.reason, detail: bad.detail)
                        : .searching(reason: .noSync, detail: "behind a bad head")
                }
            }
        }
        return at
    }

    /// Notes a frame that lies whole in the bytes at hand, from index `start` and stream offset `origin` on.
    private mutating func add(_ shape: FrameShape, start: Int, scratch: FramingScratch) {
        closeRun(nil, scratch)
        let info = info(of: origin..<origin + shape.total, shape: shape, missing: 0)
        counts.frames += 1
        counts.framed += shape.total
        scratch.items.append(.frame(info.frame, start: start, held: false, chunk: info.chunk))
    }

    /// Gives away the frame whose bytes are all in `pending`.
    mutating func finishHeldFrame(_ found: FrameShape, scratch: FramingScratch) {
        closeRun(nil, scratch)
        let missing = holes.reduce(0) { $0 + $1.count }
        let info = info(of: origin..<origin + found.total, shape: found, missing: missing)
        counts.frames += 1
        counts.framed += found.total - missing
        scratch.items.append(.frame(info.frame, start: 0, held: true, chunk: info.chunk))
        swap(&scratch.held, &pending)
        pending = []
        holes = []
        chunks.removeAll()
        shape = nil
        origin += found.total
    }

    /// What the chunks say of a frame.
    private func info(
        of range: Range<Int>, shape: FrameShape, missing: Int
    ) -> (frame: FrameInfo, chunk: Range<Int>) {
        let inLatest = range.lowerBound >= latest.range.lowerBound
        let extent =
            inLatest
            ? HeldChunks.Extent(first: latest, last: latest, segments: 1)
            : chunks.extent(of: range, latest: latest)
        let shared =
            extent.first.range.lowerBound < range.lowerBound || extent.last.range.upperBound > range.upperBound
        let frame = FrameInfo(
            index: counts.frames, offset: range.lowerBound, shape: shape, started: extent.first.time,
            time: extent.last.time, segments: extent.segments, merged: shared, position: 1, companions: 1,
            missing: missing, packet: extent.last.packet)
        return (frame, extent.last.range)
    }

    /// Hands on what was noted, frames with their bytes.
    mutating func emit(from bytes: RawSpan, scratch: FramingScratch, into receiver: any FrameReceiver) {
        guard !scratch.items.isEmpty else { return }
        if scratch.items.count > 1 || !pending.isEmpty {
            var unfinished: Int?
            if case .aligned = mode, !pending.isEmpty { unfinished = origin }
            scratch.number(unfinished: unfinished)
        }
        for item in scratch.items {
            switch item {
            case .unframed(let run): receiver.unframed(run, from: direction)
            case .frame(let info, let start, let held, _):
                if held {
                    receiver.framed(info, bytes: scratch.held.span.bytes, from: direction)
                } else {
                    let frame = bytes.extracting(start..<start + info.length)
                    receiver.framed(info, bytes: frame, from: direction)
                }
            }
        }
        scratch.reset()
    }

    /// Adds the bytes at `origin` to the unframed run, in pieces of bounded size, and moves `origin` behind them.
    mutating func passOver(_ bytes: RawSpan, _ bad: BadBytes, scratch: FramingScratch) {
        var at = 0
        while at < bytes.byteCount {
            if let run, run.reason != bad.reason || run.bytes.count == UnframedRun.longest { closeRun(nil, scratch) }
            var open =
                run ?? UnframedRun(offset: origin, bytes: [], time: latest.time, reason: bad.reason, detail: bad.detail)
            run = nil
            let count = min(bytes.byteCount - at, UnframedRun.longest - open.bytes.count)
            open.bytes.append(contentsOf: bytes.extracting(at..<at + count))
            at += count
            origin += count
            counts.unframed += count
            open.time =
                origin > latest.range.lowerBound ? latest.time : chunks.time(ofByteAt: origin - 1) ?? latest.time
            run = open
        }
    }

    /// Ends the unframed run and notes it.
    mutating func closeRun(_ resumed: String?, _ scratch: FramingScratch) {
        guard var closed = run else { return }
        run = nil
        if let resumed { closed.detail += "; " + resumed }
        scratch.items.append(.unframed(closed))
    }
}
