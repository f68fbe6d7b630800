import Analysis
import Expressions
import Framing
import Streams
import Trace

/// One direction of a connection: segments it into frames, counts them, and passes on the frames that a sink or an analysis wants
/// to see.
final class SideDecoder {
    private let resources: ConnectionResources
    private let connection: TracedConnection
    /// The work to do for the direction's frames.
    private let plan: SidePlan
    // Copies of what the plan and the resources have: reaching them there would cost reference counting.
    private let sieve: FrameSieve
    private let scratch: FramingScratch
    private let output: TraceOutput
    // The functions called while these change cannot reach them: a connection's frames are shown, not fed back. So there is no
    // need to check for that on every chunk.
    @exclusivity(unchecked) private(set) var framer: Framer
    @exclusivity(unchecked) private(set) var counts = FrameSieve.Counts()
    /// The memory that the framer holds, if it is enough to matter.
    @exclusivity(unchecked) private var account = MemoryBudget.Account()
    /// Whether a sink receives chunks.
    private let tellsOfChunks: Bool
    /// Whether most frames are only counted.
    private let onlyCounts: Bool
    /// The secrets of the plan that the next frames contain, by their index.
    @exclusivity(unchecked) private var underWay: Set<Int> = []
    /// Removes the encodings of the stream, if states of its format have any.
    private let layered: LayeredStream?
    /// The frames with secrets that rules have changed; nil if there can be none.
    private let changed: ChangedFrames?
    /// Notified of frames, one of which may ask for TLS; nil if none does.
    @exclusivity(unchecked) var upgrade: TLSUpgradeWatch?

    /// A direction of which nothing has been seen yet.
    ///
    /// - Parameters:
    ///   - rule: how it is framed, if not as the plan says.
    ///   - changed: what the connection shares with its other leg.
    init(
        _ direction: Direction, of connection: TracedConnection, _ plan: SidePlan, _ resources: ConnectionResources,
        rule: SharedRule?, changed: ChangedFrames?
    ) {
        (self.resources, self.connection, self.plan) = (resources, connection, plan)
        (sieve, scratch, output) = (plan.sieve, resources.scratch, resources.output)
        self.changed = plan.format.secrets.isEmpty ? nil : changed
        tellsOfChunks = !resources.output.chunkSinks.isEmpty
        framer = Framer(
            rule ?? plan.sharedRule, direction: direction, aligned: connection.opening.handshake)
        layered = framer.conversation.flatMap { LayeredStream($0, direction) }
        onlyCounts = sieve.countsAlone && !tellsOfChunks && layered == nil
    }

    /// Takes the next bytes; returns whether a pause of their sender may end a frame.
    @inline(never)
    func receive(_ bytes: RawSpan, at time: Timestamp, packet: Int) -> Bool {
        if let layered { return receive(bytes, through: layered, at: time, packet: packet) }
        if tellsOfChunks { tell(of: bytes.byteCount, at: time, packet: packet) }
        let held = take(bytes, at: time, packet: packet)
        // A small amount that is not accounted for yet need not be.
        if held != account.held, held > Self.unaccounted || account.held > 0 {
            resources.budget.update(&account, of: self, to: held)
            resources.budget.enforce(at: time)
        }
        return plan.endsFramesByPauses
    }

    /// Frames bytes; returns approximately how much memory the framer holds.
    @inline(__always)
    private func take(_ bytes: RawSpan, at time: Timestamp, packet: Int) -> Int {
        guard onlyCounts else { return framer.receive(bytes, at: time, packet: packet, scratch: scratch, into: self) }
        let counted = framer.count(bytes, at: time, packet: packet, by: sieve, &counts, scratch: scratch)
        if counted.frames > 0 { connection.count(counted.frames, from: framer.direction, at: time) }
        if counted.bytes == bytes.byteCount { return counted.held }
        return framer.receive(
            restOf: bytes, after: counted, at: time, packet: packet, scratch: scratch, into: self)
    }

    /// Whether nothing has followed from the bytes so far, a number of them: no result, and nothing that others know of.
    func isUndecided(after byteCount: Int) -> Bool {
        framer.heldBytes == byteCount && account.held == 0 && layered == nil && !tellsOfChunks
    }

    /// Whether a few numbers say all there is to know of it (`pass`). One that accounts for memory cannot rest: so that accounts do not
    /// depend on who rests, not even one with a small buffer that is kept after a gap.
    var isResting: Bool {
        framer.isResting && account.held == 0 && layered == nil && upgrade == nil && changed == nil && underWay.isEmpty
    }

    /// Packs a resting direction, which is not used any more, or makes a new one continue it.
    func pass(through numbers: inout PackedNumbers) {
        framer.pass(through: &numbers)
        counts.pass(through: &numbers)
        resources.budget.close(&account)
    }

    /// Takes bytes that may be encoded.
    private func receive(
        _ bytes: RawSpan, through layered: LayeredStream, at time: Timestamp, packet: Int
    ) -> Bool {
        layered.take(bytes) { decoded in
            if tellsOfChunks { tell(of: decoded.byteCount, at: time, packet: packet) }
            framer.receive(decoded, at: time, packet: packet, scratch: scratch, into: self)
        }
        resources.budget.update(&account, of: self, to: framer.heldMemory + layered.memory)
        resources.budget.enforce(at: time)
        return plan.endsFramesByPauses
    }

    @inline(never)
    private func tell(of byteCount: Int, at time: Timestamp, packet: Int) {
        let start = framer.position
        let chunk = TracedChunk(
            direction: framer.direction, range: start..<start + byteCount, time: time, packet: packet)
        for sink in output.chunkSinks { sink.chunk(chunk, on: connection) }
    }

    /// A framer that never held more than this, in bytes, is not accounted for.
    private static var unaccounted: Int { 256 }

    @inline(never)
    private func accountForHeld(at time: Timestamp) {
        resources.budget.update(&account, of: self, to: framer.heldMemory + (layered?.memory ?? 0))
        resources.budget.enforce(at: time)
    }

    /// The connection is over.
    func close() {
        finish()
        resources.budget.close(&account)
    }

    /// From now on no frames are looked for.
    ///
    /// - Parameter detail: what the bytes are.
    func recognisesNothing(_ detail: String) {
        guard !(framer.rule is Unrecognised) else { return }
        framer.finish(scratch: scratch, into: self)
        framer.continues(with: SharedRule.of(Unrecognised(detail: detail)))
    }

    /// The next bytes were not seen.
    func missing(_ byteCount: Int, at time: Timestamp) {
        let byteCount = layered?.skip(byteCount) ?? byteCount
        framer.missing(byteCount, at: time, scratch: scratch, into: self)
        accountForHeld(at: time)
    }

    /// The sender pauses.
    func pause(until time: Timestamp) {
        framer.pause(until: time, scratch: scratch, into: self)
    }

    /// No more bytes will come.
    func finish() {
        framer.finish(scratch: scratch, into: self)
    }
}

extension SideDecoder: MemoryHolder {
    var accountedMemory: Int { account.held }

    var memoryRank: (connection: ConnectionLeg, part: Int) {
        (connection.connectionLeg, 1 + Int(framer.direction.rawValue))
    }

    /// Gives up the frame in progress; if there is none, the decoding of a compressed stream.
    func evict(at time: Timestamp) {
        let held = framer.heldBytes
        if framer.heldMemory == 0 { layered?.evict(because: resources.budget.cause) }
        if held > 0 { output.report(.evictedFrame(held), of: framer.direction, on: connection, at: time) }
        framer.evict(because: resources.budget.cause, scratch: scratch, into: self)
        resources.budget.update(&account, of: self, to: framer.heldMemory + (layered?.memory ?? 0))
    }
}

extension SideDecoder: FrameReceiver {
    func framed(_ frames: FrameBatch, in bytes: RawSpan, from direction: Direction) {
        connection.count(frames.count, from: direction, at: frames.time)
        sieve.sift(frames, in: bytes, counts: &counts, picks: &resources.picks)
        if !resources.picks.isEmpty { showPicks(frames, in: bytes, direction) }
    }

    /// Shows the frames of a batch that were picked.
    @inline(never)
    private func showPicks(_ frames: FrameBatch, in bytes: RawSpan, _ direction: Direction) {
        var picks: [FrameSieve.Pick] = []
        swap(&picks, &resources.picks)
        for pick in picks {
            let item = frames[pick.index]
            let frame = bytes.extracting(item.start..<item.start + item.shape.total)
            if plan.transforms {
                transformed(frames.info(pick.index), frame, direction)
            } else {
                show(frames.info(pick.index), frame, item.shape, direction, pick, raw: frame)
            }
        }
        picks.removeAll(keepingCapacity: true)
        swap(&picks, &resources.picks)
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        connection.count(1, from: direction, at: frame.time)
        sieve.count(frame, &counts)
        if plan.transforms {
            transformed(frame, bytes, direction)
        } else {
            let shape = frame.partsAtHand
            let pick = sieve.judge(bytes, shape, counts: &counts, frame, isWhole: frame.missing == 0)
            if let pick { show(frame, bytes, shape, direction, pick, raw: bytes) }
        }
    }

    /// Judges a frame whose bytes may be an encoding of its content.
    @inline(never)
    private func transformed(_ frame: FrameInfo, _ bytes: RawSpan, _ direction: Direction) {
        plan.format.directions[direction].withContent(of: bytes, frame.shape) { content, shape in
            let pick = sieve.judge(content, shape, counts: &counts, frame, isWhole: frame.missing == 0)
            if let pick { show(frame, content, shape, direction, pick, raw: bytes) }
        }
    }

    /// Shows a frame to the analyses and sinks that want it.
    ///
    /// - Parameter raw: its bytes before escapes were resolved.
    @inline(never)
    private func show(
        _ frame: FrameInfo, _ content: RawSpan, _ shape: FrameShape, _ direction: Direction, _ pick: FrameSieve.Pick,
        raw: RawSpan
    ) {
        if let upgrade {
            upgrade.take(
                frame, content: content, shape: shape, from: direction, plan.format.directions[direction])
        }
        var pick = pick
        if !connection.hasBegun { withhold(&pick, frame, content, shape, direction) }
        var traced = TracedFrame(info: frame, shape: shape, direction: direction, isHeartbeat: pick.isHeartbeat)
        traced.kind = pick.kind
        if !plan.following.isEmpty { traced.isSecret = followsSecretly(traced, content) }
        if frame.streamed > 0 { traced.body = plan.format.directions[direction].streamedBody(of: frame, content) }
        if plan.hasBodies, pick.hasNewFault || output.frameSinks.count > 1 || changed != nil && mayHide(traced) {
            traced.body = traced.decodedBody(of: content, sieve.kinds)
        }
        if let changed { compare(&traced, content, raw, with: changed) }
        if plan.analysesSeeAll || pick.isHeartbeat || pick.isPaired || pick.hasNewFault {
            analyse(traced, content, pick)
        }
        output.show(traced, content, on: connection)
    }

    /// Whether a frame was sent, not passed on, and may have secrets.
    private func mayHide(_ frame: borrowing TracedFrame) -> Bool {
        connection.leg == .in && (frame.isSecret || !sieve.kinds.hidesNothing(frame.kind))
    }

    /// Notes whether a frame that was sent has secrets, and finds out whether one that was passed on may be such a one, changed.
    @inline(never)
    private func compare(
        _ frame: inout TracedFrame, _ content: RawSpan, _ raw: RawSpan, with changed: ChangedFrames
    ) {
        switch connection.leg {
        case .in:
            let isSecret = mayHide(frame) && FrameSecrets.hidesAnything(of: frame, content, sieve.kinds)
            changed.sent(frame.info.index, isSecret: isSecret, from: frame.direction)
        case .out:
            guard changed.mayHide(raw, from: frame.direction) else { return }
            (frame.isSecret, frame.isChanged) = (true, true)
        case nil: break
        }
    }

    /// Shows a frame to the analyses that want it.
    @inline(never)
    private func analyse(_ frame: TracedFrame, _ content: RawSpan, _ pick: FrameSieve.Pick) {
        output.analyse(plan.analysesOfAll, frame, content, connection)
        if pick.isHeartbeat { output.analyse(plan.analysesOfHeartbeats, frame, content, connection) }
        if pick.isPaired, !connection.skipsPairs {
            output.analyse(plan.analysesOfPairs, frame, content, connection)
        }
        counts.skipsPairs = connection.skipsPairs
        if pick.hasNewFault { output.analyse(plan.analysesOfFaults, frame, content, connection) }
    }

    /// Until a conversation has begun as its format requires, no frame is a heartbeat, a request or an answer.
    private func withhold(
        _ pick: inout FrameSieve.Pick, _ frame: FrameInfo, _ content: RawSpan, _ shape: FrameShape,
        _ direction: Direction
    ) {
        guard let known = connection.known, let beginning = known.format.beginning else { return }
        if direction == beginning.from {
            let values = FrameValues(info: frame, direction: direction, isHeartbeat: false)
            connection.hasBegun = values.fulfil(
                beginning.condition, content: content, shape: shape, format: known.format.directions[direction])
        }
        guard !connection.hasBegun else { return }
        if pick.isHeartbeat { counts.heartbeats -= 1 }
        (pick.isHeartbeat, pick.isPaired) = (false, false)
    }

    /// Whether the preceding frames make a frame's body a secret.
    private func followsSecretly(_ frame: TracedFrame, _ content: RawSpan) -> Bool {
        let values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
        let format = plan.format.directions[frame.direction]
        func holds(_ condition: Expression) -> Bool {
            values.fulfil(condition, content: content, shape: frame.shape, format: format)
        }
        var isSecret = false
        for (index, secret) in plan.following.enumerated() {
            if underWay.contains(index) {
                if let until = secret.until {
                    if holds(until) { underWay.remove(index) }
                } else {
                    underWay.remove(index)
                }
                let isCovered = secret.until == nil || underWay.contains(index)
                if isCovered, secret.condition.map(holds) ?? true { isSecret = true }
            }
            if let after = secret.after, holds(after) { underWay.insert(index) }
        }
        return isSecret
    }

    func streamed(_ part: StreamedPart, bytes: RawSpan, from direction: Direction) {
        for sink in output.frameSinks { sink.streamed(part, bytes: bytes, from: direction, on: connection) }
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        var run = run
        if connection.leg == .out { changed?.unframed(from: direction) }
        connection.traffic[direction].disturb { $0.unframed = run.time }
        // If no frames are looked for, neither the stream's start nor a gap explains why bytes are unframed.
        if let nothing = framer.rule as? Unrecognised { (run.reason, run.detail) = (.notDetected, nothing.detail) }
        if !output.packetAnalyses.isEmpty {
            output.notifyPacketAnalyses { $0.unframed(run, from: direction, on: connection, into: &$1) }
        }
        for sink in output.sinks { sink.unframed(run, from: direction, on: connection) }
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
        connection.traffic[direction].disturb { $0.missing = time }
        let gap = Gap(direction: direction, offset: offset, byteCount: byteCount, time: time)
        for sink in output.sinks { sink.missing(gap, on: connection) }
    }
}
