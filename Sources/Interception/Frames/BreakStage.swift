import Expressions
import Framing
import Streams

/// Stops frames for which a condition holds, until a command says what becomes of them. What is after a stopped frame in its
/// direction waits for it.
///
/// What waits for too long passes, as with every stage.
struct BreakStage: Stage {
    /// One direction beyond its framer.
    private struct Line {
        /// What was found and has not been dealt with, after the first `done`.
        var items: [FrameCollector.Item] = []
        var done = 0
        /// The frame that is stopped: the first of them; and its type.
        var stopped: FrameInfo?
        var type: String?
        var since = Timestamp(nanoseconds: 0)
        var ending: Ending?
        var isOver = false

        var next: FrameCollector.Item? { done < items.count ? items[done] : nil }
    }

    private let format: Format
    private let largest: Int
    private var conditions: [Expression]
    private var sides: FrameSides
    private var lines = PerDirection(fromClient: Line(), fromServer: Line())
    private var actions: [StageAction] = []
    private let scratch = FramingScratch()

    /// - Parameters:
    ///   - breakpoints: the conditions.
    ///   - largest: a frame with more bytes passes before it is complete.
    init(_ breakpoints: [String], _ format: Format, largest: Int) {
        (self.format, self.largest) = (format, largest)
        conditions = breakpoints.compactMap { try? Expression(parsing: $0) }
        sides = FrameSides(format)
    }

    var heldBytes: PerDirection<Int> {
        PerDirection(fromClient: sides.fromClient.pending, fromServer: sides.fromServer.pending)
    }

    var heldSince: PerDirection<Timestamp?>? {
        func since(_ direction: Direction) -> Timestamp? {
            if lines[direction].stopped != nil { return lines[direction].since }
            return sides[direction].pending > 0 ? sides[direction].pendingSince : nil
        }
        return PerDirection(fromClient: since(.fromClient), fromServer: since(.fromServer))
    }

    mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
        switch event {
        case .bytes(let bytes, let direction):
            sides[direction].append(bytes, at: now)
            find(direction) { framer, scratch, found in
                framer.receive(bytes.span.bytes, at: now, packet: 0, scratch: scratch, into: found)
            }
            advance(direction, at: now)
        case .end(let ending, let direction): receive(ending, direction, at: now)
        case .wake:
            for direction in Direction.allCases {
                if let deadline = sides[direction].framer.idleDeadline, deadline < now {
                    find(direction) { framer, scratch, found in
                        framer.pause(until: now, scratch: scratch, into: found)
                    }
                    advance(direction, at: now)
                }
                if lines[direction].stopped == nil, let silent = sides[direction].silenceEnds, silent <= now {
                    pass(upTo: .max, direction, at: now)
                }
            }
        case .release(let direction): release(direction, at: now)
        case .command(.setBreakpoints(let texts)):
            conditions = texts.compactMap { try? Expression(parsing: $0) }
            if conditions.isEmpty { for direction in Direction.allCases { release(direction, at: now) } }
        case .command(.decide(let direction, let index, let decision)):
            let outcome = decide(decision, onFrame: index, direction, at: now)
            actions.append(.decided(outcome))
            if outcome == .done { advance(direction, at: now) }
        case .began, .command: break
        }
        let wakes = Direction.allCases.compactMap { direction in
            lines[direction].stopped == nil ? sides[direction].nextWake : nil
        }
        if let next = wakes.min() { actions.append(.wake(at: next)) }
        defer { actions = [] }
        return actions
    }

    // MARK: Frames

    /// The connection began, and these bytes have passed already: frames may be stopped that begin after them.
    mutating func begin(
        at time: Timestamp, after passed: [(direction: Direction, bytes: [UInt8])], _ now: Timestamp
    ) {
        for piece in passed {
            _ = sides[piece.direction].frame(piece.bytes.span.bytes, at: now, scratch, into: FrameCollector())
            sides[piece.direction].skip(piece.bytes.count, at: now)
        }
    }

    /// A direction ends: behind a stopped frame, the end waits, too.
    private mutating func receive(_ ending: Ending, _ direction: Direction, at now: Timestamp) {
        // A reset may follow a FIN.
        guard !lines[direction].isOver else { return actions.append(.end(ending, direction)) }
        if lines[direction].ending == nil {
            find(direction) { framer, scratch, found in framer.finish(scratch: scratch, into: found) }
        }
        lines[direction].ending = ending
        advance(direction, at: now)
    }

    private mutating func find(_ direction: Direction, _ work: (inout Framer, FramingScratch, FrameCollector) -> Void) {
        let found = FrameCollector()
        work(&sides[direction].framer, scratch, found)
        if lines[direction].done == lines[direction].items.count {
            (lines[direction].items, lines[direction].done) = ([], 0)
        }
        lines[direction].items += found.items
    }

    /// Deals with what was found, up to a frame that is stopped.
    private mutating func advance(_ direction: Direction, at now: Timestamp) {
        while lines[direction].stopped == nil, let item = lines[direction].next {
            switch item {
            case .passed(let end): pass(upTo: end, direction, at: now)
            case .frame(let info):
                pass(upTo: info.offset, direction, at: now)
                if info.offset == sides[direction].base, info.length <= largest, isStopped(info, direction) {
                    (lines[direction].stopped, lines[direction].since) = (info, now)
                    report("break", info, direction, passed: info.length, "waits for a decision", at: now)
                    return
                }
                pass(upTo: info.offset + info.length, direction, at: now)
            }
            lines[direction].done += 1
        }
        guard lines[direction].stopped == nil else { return }
        let (pending, held) = (sides[direction].pending, sides[direction].framer.heldBytes)
        if conditions.isEmpty || !sides[direction].framer.isAligned || pending > largest {
            pass(upTo: .max, direction, at: now)
        } else if pending > held {
            pass(upTo: sides[direction].base + pending - held, direction, at: now)
        }
        if let ending = lines[direction].ending, !lines[direction].isOver {
            pass(upTo: .max, direction, at: now)
            lines[direction].isOver = true
            actions.append(.end(ending, direction))
        }
    }

    /// Whether a condition holds for a frame; its type is noted if so.
    private mutating func isStopped(_ info: FrameInfo, _ direction: Direction) -> Bool {
        let side = format.directions[direction]
        let frame = sides[direction].peek(info.length)
        var values = FrameValues(info: info, direction: direction)
        let (isStopped, type) = frame.withUnsafeBytes { raw -> (Bool, String?) in
            side.withContent(of: raw.bytes, info.shape) { content, shape -> (Bool, String?) in
                if let heartbeat = format.heartbeat, heartbeat.from == direction {
                    values.isHeartbeat = values.fulfil(
                        heartbeat.condition, content: content, shape: shape, format: side)
                }
                let holds = conditions.contains { values.fulfil($0, content: content, shape: shape, format: side) }
                return (holds, holds ? side.type(of: content, shape) : nil)
            }
        }
        if isStopped { lines[direction].type = type }
        return isStopped
    }

    /// Decides what becomes of a frame, if it is the stopped one. An edit that cannot be made leaves it stopped.
    private mutating func decide(
        _ decision: StageCommand.Decision, onFrame index: Int, _ direction: Direction, at now: Timestamp
    ) -> StageCommand.Outcome {
        guard let info = lines[direction].stopped, info.index == index else { return .notStopped }
        var edited: [UInt8]?
        if case .replace(let fields, let body) = decision {
            let side = format.directions[direction]
            do throws(EncodingError) {
                edited = try Array(sides[direction].peek(info.length)).withContent(info.shape, side) {
                    content, shape throws(EncodingError) in
                    try side.edit(content, shape, changes: fields, body: body?.content, isRaw: false)
                }
            } catch {
                return .impossible(error)
            }
        }
        decide(decision, info, direction, edited: edited, at: now)
        return .done
    }

    /// - Parameter edited: what a stopped frame is replaced with.
    private mutating func decide(
        _ decision: StageCommand.Decision, _ info: FrameInfo, _ direction: Direction, edited: [UInt8]? = nil,
        at now: Timestamp
    ) {
        let frame = sides[direction].take(info.length)
        lines[direction].stopped = nil
        lines[direction].done += 1
        switch decision {
        case .release:
            actions.append(.emit(frame, direction, at: now))
            report("release", info, direction, passed: frame.count, at: now)
        case .drop: report("drop", info, direction, passed: 0, at: now)
        case .replace:
            let passed = edited ?? frame
            actions.append(.emit(passed, direction, at: now))
            report("replace", info, direction, passed: passed.count, before: frame, after: passed, at: now)
        }
    }

    /// What has waited for too long passes: the stopped frame, behind which the next one may be stopped in turn; or what has arrived
    /// of one that is not complete.
    private mutating func release(_ direction: Direction, at now: Timestamp) {
        guard let info = lines[direction].stopped else { return pass(upTo: .max, direction, at: now) }
        decide(.release, info, direction, at: now)
        sides[direction].pendingSince = now
        advance(direction, at: now)
    }

    /// Bytes pass as they are.
    private mutating func pass(upTo end: Int, _ direction: Direction, at now: Timestamp) {
        let base = sides[direction].base
        let bytes = sides[direction].take(end < .max - base ? end - base : .max)
        sides[direction].pendingSince = now
        if !bytes.isEmpty { actions.append(.emit(bytes, direction, at: now)) }
    }

    private mutating func report(
        _ action: String, _ info: FrameInfo, _ direction: Direction, passed: Int, _ detail: String = "",
        before: [UInt8] = [], after: [UInt8] = [], at now: Timestamp
    ) {
        actions.append(
            .report(
                ActionReport(
                    rule: "control", action: action, direction: direction, time: now, index: info.index,
                    type: lines[direction].type, offset: info.offset, length: info.length, passed: passed,
                    detail: detail, before: before, after: after)))
    }
}
