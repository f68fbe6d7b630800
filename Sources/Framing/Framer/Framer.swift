import Streams

/// Splits one direction of a connection into frames.
///
/// It takes chunks and gaps in stream order, asks its rule where frames end, and passes on frames, unframed runs and gaps. A
/// frame that lies whole in a chunk is borrowed from it; only one that is split is copied. Memory is bounded by the rule's
/// limits: nothing is allocated on the word of a length field.
///
/// The results depend on the bytes, not on their segmentation, except `segments`, `merged` and what follows from them.
package struct Framer {
    /// Whose bytes these are.
    package let direction: Direction
    /// The classification of the bytes so far; held bytes are not counted yet.
    package internal(set) var counts = ByteCounts()

    /// How to determine where frames end.
    package var rule: any FramingRule { shared.rule }
    private(set) var shared: SharedRule
    /// The conversation whose frames it cuts, if they depend on each other.
    package var conversation: Conversation? { shared.conversation }
    var mode: Mode
    var memory = ScanMemory()

    /// Bytes not yet passed on: the start of a frame, or what a search holds. `origin` is their stream offset.
    var pending = HeldBytes()
    var origin = 0
    /// The extent of the frame that starts `pending`, once known.
    var shape: FrameShape?
    /// At least how many bytes `pending` needs before it is worth another scan.
    var wanted = 0
    /// The chunks that `pending` lies in.
    var chunks = HeldChunks()
    /// Gaps inside the frame that starts `pending`, as ranges of it.
    var gaps: [Range<Int>] = []
    /// The unframed run being collected.
    var run: UnframedRun? {
        get { openRun?.run }
        set { openRun = newValue.map { OpenRun($0) } }
    }
    private var openRun: OpenRun?
    /// The search for the next frame's start, once it has begun.
    var search: FrameSearch? {
        get { underWay?.search }
        set { underWay = newValue.map { UnderWay(search: $0) } }
    }

    /// Takes the search out, so that it is the only one with its memory when it goes on.
    private mutating func takeSearch() -> FrameSearch? {
        guard let search = underWay?.search else { return nil }
        underWay = nil
        return search
    }

    /// The streamed part of the frame that starts `pending`; nil if its body is not streamed.
    var body: StreamedBody? {
        get { underWay?.body }
        set { underWay = newValue.map { UnderWay(body: $0) } }
    }
    private var underWay: UnderWay?

    /// How many bytes of the frame in progress are held or were streamed.
    @inline(__always)
    var seen: Int { underWay == nil ? pending.count : seenWithStreamed }

    /// Whether there is such a search or body.
    @inline(__always)
    var isUnderWay: Bool { underWay != nil }

    private var seenWithStreamed: Int { pending.count + (underWay?.body?.byteCount ?? 0) }
    /// The position of the frame in progress among the frames of the chunk it began in.
    var beganAs = 1
    /// The newest chunk.
    var latest = ChunkPlace(range: 0..<0, time: Timestamp(nanoseconds: 0), packet: 0)

    enum Mode {
        /// The next byte starts a frame.
        case aligned
        /// The next frame's start must be found; skipped bytes are unframed for `reason`.
        indirect case searching(reason: UnframedReason, detail: String)
        /// The rest of a discarded frame, up to this stream offset, is unframed; then the next one starts.
        indirect case skipping(to: Int, detail: String)
    }

    /// A framer at the start of a stream.
    ///
    /// - Parameter aligned: whether the stream is known to start with a frame.
    package init(rule: any FramingRule, direction: Direction, aligned: Bool) {
        guard rule.remembersWalks else {
            self.init(SharedRule.of(rule), direction: direction, aligned: aligned)
            return
        }
        let alone = Conversation()
        let bound: any FramingRule = rule.bound(to: alone, direction) ?? rule
        self.init(SharedRule.of(bound), direction: direction, aligned: aligned)
    }

    /// A framer whose rule is shared with other streams.
    ///
    /// - Parameter explains: whether it describes faults.
    package init(_ shared: SharedRule, direction: Direction, aligned: Bool, explains: Bool = true) {
        self.shared = shared
        self.direction = direction
        mode = aligned ? .aligned : .searching(reason: .noSync, detail: "picked up mid-stream")
        if !aligned { memory.opening = nil }
        memory.explains = explains
    }

    /// Frames the rest of the stream by another rule. Nothing may be held.
    package mutating func continues(with rule: SharedRule) {
        shared = rule
        mode = .aligned
    }

    /// The stream offset of the next byte that is received.
    package var position: Int { origin + seen }

    /// Approximately how much memory is held for bytes of incomplete frames.
    @inline(__always)
    package var heldMemory: Int {
        pending.memory &+ chunks.memory &+ (openRun == nil ? 0 : openRunMemory)
    }

    private var openRunMemory: Int { openRun?.run.bytes.count ?? 0 }

    /// How many bytes are held until more of the stream is known.
    package var heldBytes: Int { pending.count + (run?.bytes.count ?? 0) }

    /// Whether unframed bytes are being collected.
    var hasRun: Bool { openRun != nil }

    /// Whether it is known where the frame in progress ends; true if there is none.
    package var isExtentKnown: Bool { pending.isEmpty || shape != nil || body != nil }

    /// Whether it is known that the next byte belongs to a frame.
    package var isAligned: Bool {
        if case .aligned = mode { true } else { false }
    }

    // What a trial asks at every step is mutating: otherwise the framer would be copied out of the trial for the question. So is what a
    // relay asks for every message.

    /// Whether it is known that the next byte begins a frame.
    package var isBetweenFrames: Bool {
        mutating get { isAligned && heldBytes == 0 }
    }

    /// Whether no frame was found yet, and none has begun as far as known: a search holds no more than the beginning of a head.
    var hasFoundNothing: Bool {
        mutating get { counts.frames == 0 && !isAligned && pending.count < Self.lookedAhead }
    }

    /// How many of the available bytes prove that a frame starts with them.
    var proof: Int? {
        mutating get {
            guard isAligned, !pending.isEmpty else { return nil }
            return rule.proof(pending.storage.span.bytes.extracting(0..<pending.count))
        }
    }

    /// The head of the frame in progress, if complete.
    var openHead: (bytes: [UInt8], shape: FrameShape)? {
        mutating get {
            guard isAligned, let shape, pending.count >= shape.head else { return nil }
            var head = FrameShape(head: shape.head, body: 0)
            head.layout = shape.layout
            return (pending.storage.span.bytes.copied(0..<shape.head), head)
        }
    }

    /// When the frame in progress ends if its sender stays silent; nil if no pause ends one.
    package var idleDeadline: Timestamp? {
        // Of several kinds of frames, pauses may end only some: none whose extent is known before they end.
        guard let idle = shared.idle, isAligned, !pending.isEmpty, shape == nil else { return nil }
        return latest.time + idle
    }

    /// Ends the frame in progress if its sender has paused for too long; the next bytes start a new frame.
    package mutating func pause(
        until time: Timestamp, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        guard let deadline = idleDeadline, deadline < time else { return }
        cutHeld(followedBy: .end, scratch: scratch, into: receiver)
        resynchronise(.noSync, "after a pause that ended a frame")
    }

    /// A new search for the next frame's start begins at the next byte; what it passes is unframed for this reason.
    mutating func resynchronise(_ reason: UnframedReason, _ detail: String) {
        search = nil
        mode = .searching(reason: reason, detail: detail)
    }

    // MARK: Chunks

    /// The next bytes of the stream, which are not empty.
    ///
    /// - Returns: approximately how much memory is held now. To ask the framer for it, a caller in another module would have to
    ///   copy it.
    @discardableResult
    package mutating func receive(
        _ chunk: RawSpan, at time: Timestamp, packet: Int, scratch: FramingScratch, into receiver: any FrameReceiver
    ) -> Int {
        take(chunk, at: time, packet: packet, scratch: scratch, into: receiver)
        return heldMemory
    }

    @inline(__always)
    private mutating func take(
        _ chunk: RawSpan, at time: Timestamp, packet: Int, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        if !pending.isEmpty { pause(until: time, scratch: scratch, into: receiver) }
        let start = origin + seen
        latest = ChunkPlace(range: start..<start + chunk.byteCount, time: time, packet: packet)
        if pending.isEmpty {
            cutInPlace(chunk, scratch: scratch, into: receiver)
            return
        }
        chunks.append(latest)
        let taken = completeHead(from: chunk, scratch)
        if let shape {
            // The end of the frame is known: take what it still needs, and scan the rest in the chunk itself.
            let end = min(taken + shape.total - seen, chunk.byteCount)
            if shared.streams(shape) {
                stream(chunk.extracting(taken..<end), shape, into: receiver)
            } else {
                pending.append(chunk.extracting(taken..<end), of: shape.total, scratch)
            }
            guard seen == shape.total else { return }
            if shared.checksEnds {
                let rest = chunk.extracting(end..<chunk.byteCount)
                if rejectsHeldFrame(shape, before: rest, scratch: scratch, into: receiver) { return }
            }
            finishHeldFrame(shape, scratch: scratch)
            cutInPlace(chunk.extracting(end..<chunk.byteCount), scratch: scratch, into: receiver)
        } else if taken < chunk.byteCount {
            pending.append(chunk.extracting(taken..<chunk.byteCount), of: 0, scratch)
            if pending.count >= wanted { cutHeld(followedBy: .more, scratch: scratch, into: receiver) }
        } else if pending.count >= wanted {
            cutHeld(followedBy: .more, scratch: scratch, into: receiver)
        }
    }

    /// Takes the minimum that the rule needs, as long as it only asks for more; returns how many bytes of the chunk were taken.
    /// This way, the bytes after a split head need not be copied with it.
    private mutating func completeHead(from chunk: RawSpan, _ scratch: FramingScratch) -> Int {
        var taken = 0
        guard shape == nil, isAligned else { return 0 }
        while wanted > pending.count, taken < chunk.byteCount {
            let count = min(wanted - pending.count, chunk.byteCount - taken)
            pending.append(chunk.extracting(taken..<taken + count), of: wanted, scratch)
            taken += count
            guard pending.count >= wanted else { return taken }
            var memory = self.memory
            let scan = shared.scan(
                pending.storage.span.bytes.extracting(0..<pending.count), from: 0, origin: origin, ended: false,
                memory: &memory)
            switch scan {
            case .shape(let found) where found.total >= pending.count:
                self.memory = memory
                shape = found
                if !mayReject(found) { chunks.count() }
                return taken
            case .incomplete(let atLeast):
                self.memory = memory
                wanted = atLeast
            // It is scanned again, with what was remembered before.
            default: return taken
            }
        }
        return taken
    }

    /// Finds frames in a chunk's bytes in place, and keeps the rest.
    mutating func cutInPlace(_ bytes: RawSpan, scratch: FramingScratch, into receiver: any FrameReceiver) {
        let (base, frames) = (origin, counts.frames)
        let used = cut(bytes, followedBy: .more, scratch: scratch)
        emit(
            from: bytes, at: base, firstIndex: frames, isUnfinished: used < bytes.byteCount && isAligned,
            scratch: scratch, into: receiver)
        if used < bytes.byteCount {
            if shared.follows, handsOver(at: origin) {
                shared.conversation?.handOver(.end(bytes.byteCount - used), direction)
                return
            }
            pending.append(bytes.extracting(used..<bytes.byteCount), of: shape?.total ?? 0, scratch)
            chunks.append(latest)
            if let shape, !mayReject(shape) { chunks.count() }
            streamRest(into: receiver)
            if shared.follows { shared.conversation?.holds(direction, from: origin) }
        }
    }

    /// Whether the bytes from an offset on are to be decoded before they are framed.
    private func handsOver(at offset: Int) -> Bool {
        isAligned && shape == nil && shared.conversation?.handsOver(direction, at: offset) ?? false
    }

    /// The conversation learns of a frame.
    private func completed(
        _ bytes: RawSpan, _ shape: FrameShape, at offset: Int, missing: Int, _ frame: FrameInfo? = nil
    ) {
        var info = frame ?? FrameInfo(of: shape)
        (info.offset, info.missing) = (offset, missing)
        shared.conversation?.completed(bytes, info, from: direction)
    }

    /// Finds frames in the bytes held so far, and keeps the rest.
    mutating func cutHeld(
        followedBy following: Following, scratch: FramingScratch, into receiver: any FrameReceiver
    ) {
        var held = pending.take()
        let used = cut(held, followedBy: following, scratch: scratch, into: receiver)
        held.removeFirst(used)
        if shared.follows, held.count > 0, handsOver(at: origin) {
            let rest = held.storage.span.bytes.copied(0..<held.count)
            shared.conversation?.handOver(.bytes(rest), direction)
            held.removeAll()
            chunks.removeAll()
        }
        pending = held
        streamRest(into: receiver)
        if shared.follows { shared.conversation?.holds(direction, from: pending.isEmpty ? nil : origin) }
    }

    private mutating func cut(
        _ held: borrowing HeldBytes, followedBy following: Following, scratch: FramingScratch,
        into receiver: any FrameReceiver
    ) -> Int {
        let bytes = held.storage.span.bytes.extracting(0..<held.count)
        let (base, frames) = (origin, counts.frames)
        let used = cut(bytes, followedBy: following, scratch: scratch)
        if used == bytes.byteCount { chunks.removeAll() } else { chunks.drop(before: origin, latest: latest) }
        if let shape, !mayReject(shape) { chunks.count() }
        emit(
            from: bytes, at: base, firstIndex: frames, isUnfinished: used < bytes.byteCount && isAligned,
            scratch: scratch, into: receiver)
        return used
    }

    // MARK: Frames

    /// Splits `bytes`, which start at `origin`, into as many frames as there are; advances `origin` and returns how many bytes
    /// were consumed.
    private mutating func cut(_ bytes: RawSpan, followedBy following: Following, scratch: FramingScratch) -> Int {
        let first = origin
        var at = 0
        wanted = 0
        shape = nil
        while at < bytes.byteCount {
            switch mode {
            case .skipping(let end, let detail):
                at += skip(bytes.extracting(at..<bytes.byteCount), to: end, detail, scratch: scratch)
            case .searching(let reason, let detail):
                var search =
                    takeSearch()
                    ?? FrameSearch(
                        from: first + at, choices: memory.choices,
                        triesOpening: shared.hasOpening && counts.frames == 0,
                        explains: memory.explains)
                switch search.look(shared, bytes, from: at, origin: first, followedBy: following) {
                case .found(let start, let how, let isOpening):
                    markUnframed(bytes.extracting(at..<start), BadBytes(reason, detail), scratch: scratch)
                    closeRun(memory.explains ? "resynchronized at offset \(first + start): \(how)" : nil, scratch)
                    at = start
                    mode = .aligned
                    memory.resume(
                        at: first + start, isOpening: isOpening, keepsSearch: shared.rule.searchesAnywhere)
                case .undecided(let start, let until):
                    markUnframed(bytes.extracting(at..<start), BadBytes(reason, detail), scratch: scratch)
                    self.search = search
                    wanted = until - first - start
                    return start
                }
            case .aligned:
                if shared.follows, handsOver(at: first + at) { return at }
                if hasRun { closeRun(nil, scratch) }
                let (known, start) = (scratch.items.count, at)
                let found = shared.frames(
                    in: bytes, from: at, origin: first, memory: &memory, into: &scratch.items)
                if found.end > at {
                    note(from: known, start: at, end: found.end, first: first, scratch: scratch)
                    at = found.end
                }
                if let next = found.next {
                    shape = next
                    return at
                }
                if found.end > start { continue }
                switch shared.scan(bytes, from: at, origin: first, ended: following == .end, memory: &memory) {
                case .shape(let found):
                    guard at + found.total <= bytes.byteCount else {
                        shape = found
                        return at
                    }
                    if shared.checksEnds,
                        let bad = shared.badEnd(
                            of: bytes.extracting(at..<at + found.total), found, at: first + at)
                    {
                        at += reject(bad, bytes.extracting(at..<bytes.byteCount), scratch: scratch)
                        continue
                    }
                    scratch.items.append(FrameItem(start: at, shape: found))
                    if shared.follows {
                        completed(bytes.extracting(at..<at + found.total), found, at: first + at, missing: 0)
                    }
                    note(from: known, start: at, end: at + found.total, first: first, scratch: scratch)
                    at += found.total
                case .incomplete(let atLeast):
                    wanted = atLeast
                    return at
                case .padding(let count):
                    counts.padding += count
                    at += count
                    origin += count
                case .bad(let bad): at += reject(bad, bytes.extracting(at..<bytes.byteCount), scratch: scratch)
                }
            }
        }
        return at
    }

    /// Counts the frames that lie whole in the available bytes, and keeps the extents of those that do not lie in the newest
    /// chunk alone.
    private mutating func note(from known: Int, start: Int, end: Int, first: Int, scratch: FramingScratch) {
        counts.frames += scratch.items.count - known
        counts.framed += end - start
        origin = first + end
        guard first + start < latest.range.lowerBound else { return }
        var index = known
        while index < scratch.items.count {
            let item = scratch.items[index]
            guard first + item.start < latest.range.lowerBound else { return }
            let place = first + item.start..<first + item.start + item.shape.total
            let extent = chunks.extent(of: place, latest: latest)
            if extent.last.range != latest.range { scratch.endsEarlier = true }
            scratch.items[index].extent = Int32(scratch.extents.count)
            scratch.extents.append(extent)
            index += 1
        }
    }

    /// Records the frame whose bytes are all in `pending`.
    mutating func finishHeldFrame(_ found: FrameShape, scratch: FramingScratch) {
        if hasRun { closeRun(nil, scratch) }
        let missing = gaps.isEmpty ? 0 : gaps.reduce(0) { $0 + $1.count }
        let place = origin..<origin + found.total
        var frame = FrameInfo(
            index: counts.frames, place: place, shape: found, extent: chunks.extent(of: place, latest: latest),
            missing: missing)
        if let body {
            frame.setStreamed(body.byteCount, isText: body.isWholeText)
            self.body = nil
        }
        scratch.heldFrame = frame
        if shared.follows {
            let bytes = pending.storage.span.bytes.extracting(0..<pending.count)
            completed(bytes, found, at: origin, missing: missing, frame)
        }
        counts.frames += 1
        counts.framed += found.total - missing
        if missing > 0 { gaps = [] }
        chunks.removeAll()
        shape = nil
        origin += found.total
    }
}

/// A search for the start of a frame, or the body of a streamed frame: never both, and most streams never have either.
private final class UnderWay {
    let search: FrameSearch?
    let body: StreamedBody?

    init(search: FrameSearch? = nil, body: StreamedBody? = nil) { (self.search, self.body) = (search, body) }
}

/// An unframed run being collected: most streams never have one, and need no space for it.
private final class OpenRun: Sendable {
    let run: UnframedRun

    init(_ run: UnframedRun) { self.run = run }
}
