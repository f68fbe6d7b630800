import Expressions
import Framing
import Streams

/// Applies rules to the frames of a connection, one after the other.
///
/// Frames pass when they are complete. Unframed bytes and padding pass as they are, and so does a frame that is larger than what
/// may be held, or whose end is not known after a second of silence.
struct FrameStage: Stage {
    let format: Format
    var rules: [NumberedRule]
    var sides: FrameSides
    var opened = Timestamp(nanoseconds: 0)
    var actions: [StageAction] = []
    private let largest: Int
    private let scratch = FramingScratch()
    private let collector = FrameCollector()
    /// Whether frames are counted by their types.
    let countsTypes: Bool
    /// Whether a frame may be overtaken.
    let reorders: Bool
    /// Whether frames may pass of which nothing has to be remembered.
    private let canSkip: Bool
    /// Whether a rule asks whether a frame is a heartbeat.
    let readsHeartbeats: Bool
    /// The types of frames that no rule is about; nil if a rule may be about frames of any type, or no frame passes unexamined.
    let untouched: PerDirection<RuledOutTypes?>

    /// Whether frames are injected here by command.
    private let isCommanded: Bool

    /// - Parameters:
    ///   - largest: a frame with more bytes passes before it is complete.
    ///   - isCommanded: whether frames are injected here by command.
    init(_ rules: [NumberedRule], _ format: Format, largest: Int, isCommanded: Bool = false) {
        (self.rules, self.format, self.largest, self.isCommanded) = (rules, format, largest, isCommanded)
        sides = FrameSides(format)
        let expressions = rules.flatMap { $0.rule.expressions }
        countsTypes = expressions.contains { $0.paths.contains(["nth"]) }
        readsHeartbeats = expressions.contains { $0.paths.contains(["heartbeat"]) }
        reorders = rules.contains {
            if case .frame(.delay(_, _, isOvertaken: true)) = $0.rule.action { true } else { false }
        }
        canSkip = !countsTypes && !reorders
        let skipped = canSkip ? rules : nil
        untouched = PerDirection(
            fromClient: skipped.flatMap { Self.untouched(by: $0, format, .fromClient) },
            fromServer: skipped.flatMap { Self.untouched(by: $0, format, .fromServer) })
    }

    private static func untouched(
        by rules: [NumberedRule], _ format: Format, _ direction: Direction
    ) -> RuledOutTypes? {
        var all: [Expression] = []
        for rule in rules {
            guard let conditions = rule.rule.conditions(on: direction) else { return nil }
            all += conditions
        }
        return RuledOutTypes(all, format, direction)
    }

    var heldBytes: PerDirection<Int> {
        PerDirection(fromClient: sides.fromClient.heldBytes, fromServer: sides.fromServer.heldBytes)
    }

    var heldSince: PerDirection<Timestamp?>? {
        PerDirection(fromClient: sides.fromClient.heldSince, fromServer: sides.fromServer.heldSince)
    }

    mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
        switch event {
        case .began: opened = now
        case .bytes(let bytes, let direction): if !sides[direction].isOver { receive(bytes, direction, at: now) }
        case .end(let ending, let direction): receive(ending, direction, at: now)
        case .wake: for direction in Direction.allCases { wake(direction, at: now) }
        case .release(let direction): releaseAll(direction, at: now)
        case .command(.inject(let frame, let direction)): injectByCommand(frame, direction, at: now)
        case .command: break
        }
        return finish(at: now)
    }

    private mutating func finish(at now: Timestamp) -> [StageAction] {
        flush(.fromClient, at: now)
        flush(.fromServer, at: now)
        let (client, server) = (sides.fromClient.nextWake, sides.fromServer.nextWake)
        if let next = client.map({ min($0, server ?? $0) }) ?? server { actions.append(.wake(at: next)) }
        defer { actions = [] }
        return actions
    }

    /// Whole frames that no rule is about pass as they are.
    mutating func pass(_ bytes: RawSpan, _ direction: Direction, at now: Timestamp) -> [StageAction]? {
        // By name: a subscript would copy the side. What the other side holds may wait for a frame of this one.
        guard canSkip, direction == .fromClient ? sides.fromClient.isIdle : sides.fromServer.isIdle,
            direction == .fromClient ? sides.fromServer.hold == nil : sides.fromClient.hold == nil
        else {
            return take(.bytes(bytes.copied(), direction), at: now)
        }
        let found = collector
        found.items.removeAll(keepingCapacity: true)
        let (base, isWhole) =
            direction == .fromClient
            ? sides.fromClient.frame(bytes, at: now, scratch, into: found)
            : sides.fromServer.frame(bytes, at: now, scratch, into: found)
        if isWhole, isUntouched(found, in: bytes, from: base, direction, at: now) {
            if direction == .fromClient {
                sides.fromClient.skip(bytes.byteCount, at: now)
            } else {
                sides.fromServer.skip(bytes.byteCount, at: now)
            }
            return nil
        }
        sides[direction].append(bytes.copied(), at: now)
        dealWithRest(of: found, direction, at: now)
        return finish(at: now)
    }

    /// Whether a chunk is nothing but frames that no rule does anything to.
    private func isUntouched(
        _ found: FrameCollector, in bytes: RawSpan, from base: Int, _ direction: Direction, at now: Timestamp
    ) -> Bool {
        var end = base
        for item in found.items {
            guard case .frame(let info) = item, info.offset == end, info.length <= largest else { return false }
            let start = end - base
            end += info.length
            guard end - base <= bytes.byteCount else { return false }
            let frame = bytes.extracting(start..<end - base)
            if isSelected(frame, info, direction, at: now) { return false }
        }
        return end - base == bytes.byteCount
    }

    // MARK: Time

    private mutating func wake(_ direction: Direction, at now: Timestamp) {
        if let deadline = sides[direction].hold?.deadline, deadline <= now { releaseHold(direction, at: now) }
        if let deadline = sides[direction].joining?.deadline, deadline <= now { join(direction, at: now) }
        if let deadline = sides[direction].framer.idleDeadline, deadline < now {
            let found = FrameCollector()
            sides[direction].framer.pause(until: now, scratch: scratch, into: found)
            deal(with: found, direction, at: now)
        }
        if let silent = sides[direction].silenceEnds, silent <= now { passUnfinished(direction) }
    }

    // MARK: Framing

    /// The connection began, and these bytes have passed already: rules apply to the frames that begin after them.
    mutating func begin(
        at time: Timestamp, after passed: [(direction: Direction, bytes: [UInt8])], _ now: Timestamp
    ) {
        opened = time
        for piece in passed {
            _ = sides[piece.direction].frame(piece.bytes.span.bytes, at: now, scratch, into: FrameCollector())
            sides[piece.direction].skip(piece.bytes.count, at: now)
        }
        for direction in Direction.allCases {
            sides[direction].isInsideFrame = sides[direction].framer.heldBytes > 0
        }
    }

    private mutating func receive(_ bytes: [UInt8], _ direction: Direction, at now: Timestamp) {
        sides[direction].append(bytes, at: now)
        let found = collector
        found.items.removeAll(keepingCapacity: true)
        sides[direction].framer.receive(bytes.span.bytes, at: now, packet: 0, scratch: scratch, into: found)
        dealWithRest(of: found, direction, at: now)
    }

    /// Deals with what was found in a chunk, and with what is left of it.
    private mutating func dealWithRest(of found: FrameCollector, _ direction: Direction, at now: Timestamp) {
        deal(with: found, direction, at: now)
        guard !sides[direction].isOver else { return }
        let (end, held) = (sides[direction].base + sides[direction].pending, sides[direction].framer.heldBytes)
        if !sides[direction].framer.isAligned {
            pass(upTo: end, direction)
        } else if sides[direction].pending > largest || rules.isEmpty {
            // Without a rule, no frame waits for its end.
            passUnfinished(direction)
        } else {
            pass(upTo: end - held, direction)
        }
    }

    /// A direction ends. What is kept of it passes before that: at once; but what a hold keeps, with the end of the hold.
    private mutating func receive(_ ending: Ending, _ direction: Direction, at now: Timestamp) {
        if !sides[direction].isOver { finish(direction, at: now) }
        if sides[direction].isOver {
            // A reset may follow a FIN of a rule.
            if ending == .reset { actions.append(.end(ending, direction)) }
        } else if sides[direction].hold != nil, sides[direction].heldBytes > 0 {
            sides[direction].ending = ending
        } else {
            pass(ending, direction, at: now)
        }
    }

    /// The stream ends: what is left may be a frame after all.
    private mutating func finish(_ direction: Direction, at now: Timestamp) {
        let found = FrameCollector()
        sides[direction].framer.finish(scratch: scratch, into: found)
        deal(with: found, direction, at: now)
    }

    private mutating func deal(with found: FrameCollector, _ direction: Direction, at now: Timestamp) {
        for item in found.items {
            switch item {
            case .passed(let end): pass(upTo: end, direction)
            case .frame(let info):
                // One of which the beginning has passed, or that is too large, passes whole.
                guard info.offset >= sides[direction].base, info.length <= largest else {
                    pass(upTo: info.offset + info.length, direction)
                    endFrame(direction, at: now)
                    continue
                }
                pass(upTo: info.offset, direction)
                endFrame(direction, at: now)
                let frame = sides[direction].take(info.length)
                take(frame, info, direction, at: now)
                if sides[direction].isOver { return }
            }
            sides[direction].pendingSince = now
        }
    }

    /// Bytes that are not a frame's pass as they are.
    private mutating func pass(upTo end: Int, _ direction: Direction) {
        let base = sides[direction].base
        let bytes = sides[direction].take(end < .max - base ? end - base : .max)
        guard !bytes.isEmpty else { return }
        if sides[direction].hold != nil {
            sides[direction].keep(bytes)
        } else if !sides[direction].joined.isEmpty {
            sides[direction].joined.append(bytes)
        } else {
            sides[direction].passing += bytes
        }
    }

    /// What has arrived of a frame passes, without its end.
    private mutating func passUnfinished(_ direction: Direction) {
        let isInside = sides[direction].pending > 0 && sides[direction].framer.isAligned
        pass(upTo: .max, direction)
        if isInside { sides[direction].isInsideFrame = true }
    }

    /// The next byte of a direction begins a frame: what waited for that passes.
    private mutating func endFrame(_ direction: Direction, at now: Timestamp) {
        sides[direction].isInsideFrame = false
        let injected = sides[direction].injected
        sides[direction].injected = []
        for bytes in injected { passAlone(bytes, direction, at: now) }
    }

    // MARK: Emitting

    /// Emits the bytes that pass together.
    mutating func flush(_ direction: Direction, at now: Timestamp) {
        let bytes = sides[direction].passing
        guard !bytes.isEmpty else { return }
        sides[direction].passing = []
        emit(bytes, direction, at: now)
    }

    /// Emits a frame of its own.
    mutating func emit(_ bytes: [UInt8], _ direction: Direction, at due: Timestamp, isOvertaken: Bool = false) {
        guard reorders else { return actions.append(.emit(bytes, direction, at: due)) }
        let due = max(due, sides[direction].ordered)
        if !isOvertaken { sides[direction].ordered = due }
        actions.append(.emit(bytes, direction, at: due, overtakes: true))
    }

    /// A frame that was not sent passes, at a frame boundary.
    private mutating func injectByCommand(_ frame: [UInt8], _ direction: Direction, at now: Timestamp) {
        guard isCommanded, !sides[direction].isOver, sides[direction].injected.count < Self.mostInjected else { return }
        actions.append(
            .report(
                ActionReport(
                    rule: "control", action: "inject", direction: direction, time: now, offset: sides[direction].base,
                    length: 0, passed: frame.count, after: frame)))
        inject(frame, direction, at: now)
    }

    /// A frame of its own passes now, unless its direction waits.
    mutating func passAlone(_ bytes: [UInt8], _ direction: Direction, at now: Timestamp) {
        guard sides[direction].hold == nil else { return sides[direction].keep(bytes) }
        join(direction, at: now)
        flush(direction, at: now)
        emit(bytes, direction, at: now)
    }

    /// What a hold keeps passes, and the end that came meanwhile.
    mutating func releaseHold(_ direction: Direction, at now: Timestamp) {
        sides[direction].hold = nil
        for waiting in sides[direction].takeHeld() { pass(waiting, direction, at: now) }
        guard let ending = sides[direction].ending else { return }
        sides[direction].ending = nil
        pass(ending, direction, at: now)
    }

    /// The frame passes that waited for the next one.
    mutating func passSwapped(_ direction: Direction, at now: Timestamp) {
        guard let swapped = sides[direction].swapped else { return }
        sides[direction].swapped = nil
        pass(swapped, direction, at: now)
    }

    /// What has waited passes: at once, or when its delay is over.
    private mutating func pass(_ waiting: WaitingBytes, _ direction: Direction, at now: Timestamp) {
        guard let due = waiting.due, due > now else {
            sides[direction].passing += waiting.bytes
            return
        }
        flush(direction, at: now)
        emit(waiting.bytes, direction, at: due, isOvertaken: waiting.isOvertaken)
    }

    /// The end of a direction passes, after everything that is kept.
    private mutating func pass(_ ending: Ending, _ direction: Direction, at now: Timestamp) {
        releaseAll(direction, at: now)
        flush(direction, at: now)
        actions.append(.end(ending, direction))
    }

    /// Everything passes that is kept.
    private mutating func releaseAll(_ direction: Direction, at now: Timestamp) {
        join(direction, at: now)
        releaseHold(direction, at: now)
        passSwapped(direction, at: now)
        passUnfinished(direction)
    }
}

extension Rule {
    /// The conditions of which one must hold for a frame of a direction, so that the rule does something to it or begins to apply;
    /// nil if it may be any frame.
    fileprivate func conditions(on direction: Direction) -> [Expression]? {
        let after = selection.after.map { [$0] } ?? []
        guard from ?? direction == direction else { return after }
        return selection.when.map { after + [$0] }
    }

    /// All its conditions.
    var expressions: [Expression] {
        var all = [selection.after, selection.when]
        if case .frame(.hold(let hold)) = action { all += [hold.until, hold.passing] }
        return all.compactMap { $0 }
    }
}
