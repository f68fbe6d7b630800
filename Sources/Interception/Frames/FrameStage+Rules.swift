import Expressions
import Framing
import Streams

/// What rules do to one frame.
extension FrameStage {
    /// What becomes of a frame.
    private struct Fate {
        /// What passes of it, each a write of its own if there are several.
        var frames: [[UInt8]]
        /// The parts of each; nil if a rule has made something else of it.
        var shape: FrameShape?
        var before: [FrameAction.Injection] = []
        var after: [FrameAction.Injection] = []
        var delay = Interval.seconds(0)
        var isOvertaken = false
        var isSwapped = false
        var hold: (rule: Int, hold: FrameAction.Hold)?
        var ending: Ending?
        var segmentation: (rule: Int, Segmentation)?
        /// Whether it is written by itself: what a rule touched is.
        var isTouched = false
    }

    /// A frame, and what conditions read of it.
    struct Seen {
        let bytes: [UInt8]
        let direction: Direction
        let format: DirectionFormat
        var values: FrameValues

        func fulfils(_ condition: Expression?) -> Bool {
            guard let condition else { return true }
            return bytes.withUnsafeBytes { raw in
                format.withContent(of: raw.bytes, values.info.shape) { content, shape in
                    values.fulfil(condition, content: content, shape: shape, format: format)
                }
            }
        }

        var type: String? {
            bytes.withUnsafeBytes { raw in
                format.withContent(of: raw.bytes, values.info.shape) { content, shape in
                    format.type(of: content, shape)
                }
            }
        }
    }

    /// Applies the rules to a frame.
    mutating func take(_ bytes: [UInt8], _ info: FrameInfo, _ direction: Direction, at now: Timestamp) {
        var seen = Seen(
            bytes: bytes, direction: direction, format: format.directions[direction],
            values: FrameValues(info: info, direction: direction))
        if let heartbeat = format.heartbeat, heartbeat.from == direction {
            seen.values.isHeartbeat = seen.fulfils(heartbeat.condition)
        }
        if countsTypes { seen.values.nth = count(seen.type, direction) }
        var fate = Fate(frames: [bytes], shape: info.shape)
        for index in rules.indices where selects(index, seen, at: now) { apply(index, seen, &fate, at: now) }
        for index in rules.indices { arm(index, seen) }
        for other in Direction.allCases {
            guard let hold = sides[other].hold, case .frame(.hold(let rule)) = rules[hold.rule].rule.action,
                let until = rule.until, seen.fulfils(until)
            else { continue }
            report(hold.rule, seen, passed: fate.frames.reduce(0) { $0 + $1.count }, "released", at: now)
            releaseHold(other, at: now)
        }
        pass(fate, seen, at: now)
    }

    /// At most this many frames wait to be injected.
    static let mostInjected = 1_000

    /// At most this many types are counted; the others together.
    private static let mostTypes = 1_000

    private mutating func count(_ type: String?, _ direction: Direction) -> Int {
        var name = type ?? ""
        if sides[direction].types[name] == nil, sides[direction].types.count >= Self.mostTypes { name = "" }
        sides[direction].types[name, default: 0] += 1
        return sides[direction].types[name] ?? 1
    }

    // MARK: Which

    private mutating func selects(_ index: Int, _ seen: Seen, at now: Timestamp) -> Bool {
        let rule = rules[index].rule
        guard rules[index].isArmed, rule.from ?? seen.direction == seen.direction, rule.isOpen(now - opened),
            rules[index].timesApplied < rule.selection.times ?? .max, seen.fulfils(rule.selection.when)
        else { return false }
        switch rule.action {
        // What waits already does not wait anew.
        case .frame(.hold) where sides[seen.direction].hold != nil: return false
        case .frame(.swap) where sides[seen.direction].swapped != nil: return false
        default: break
        }
        rules[index].matched[seen.direction] += 1
        let number = rules[index].matched[seen.direction]
        if let nth = rule.selection.nth, number != nth { return false }
        if let every = rule.selection.every, !number.isMultiple(of: every) { return false }
        if let probability = rule.selection.probability,
            !rules[index].chances[seen.direction].happens(probability)
        {
            return false
        }
        rules[index].applied[seen.direction] += 1
        return true
    }

    /// Whether a rule selects a frame, or begins to apply with it: looks only, and changes nothing.
    func isSelected(_ bytes: RawSpan, _ info: FrameInfo, _ direction: Direction, at now: Timestamp) -> Bool {
        // By name: a subscript would copy the format.
        direction == .fromClient
            ? isSelected(bytes, info, direction, format.directions.fromClient, untouched.fromClient, at: now)
            : isSelected(bytes, info, direction, format.directions.fromServer, untouched.fromServer, at: now)
    }

    private func isSelected(
        _ bytes: RawSpan, _ info: FrameInfo, _ direction: Direction, _ side: DirectionFormat,
        _ untouched: RuledOutTypes?, at now: Timestamp
    ) -> Bool {
        side.withContent(of: bytes, info.shape) { content, shape in
            if let untouched, untouched.contains(content, shape) { return false }
            var values = FrameValues(info: info, direction: direction)
            func holds(_ condition: Expression) -> Bool {
                values.fulfil(condition, content: content, shape: shape, format: side)
            }
            if readsHeartbeats, let heartbeat = format.heartbeat, heartbeat.from == direction {
                values.isHeartbeat = holds(heartbeat.condition)
            }
            for index in rules.indices {
                if !rules[index].isArmed {
                    if rules[index].rule.selection.after.map(holds) ?? true { return true }
                    continue
                }
                guard rules[index].rule.from ?? direction == direction, rules[index].rule.isOpen(now - opened),
                    rules[index].timesApplied < rules[index].rule.selection.times ?? .max
                else { continue }
                if rules[index].rule.selection.when.map(holds) ?? true { return true }
            }
            return false
        }
    }

    private mutating func arm(_ index: Int, _ seen: Seen) {
        if !rules[index].isArmed, seen.fulfils(rules[index].rule.selection.after) { rules[index].isArmed = true }
    }

    // MARK: What

    private mutating func apply(_ index: Int, _ seen: Seen, _ fate: inout Fate, at now: Timestamp) {
        guard case .frame(let action) = rules[index].rule.action else { return }
        fate.isTouched = true
        func total(_ frames: [[UInt8]]) -> Int { frames.reduce(0) { $0 + $1.count } }
        switch action {
        case .drop:
            fate.frames = []
            report(index, seen, passed: 0, at: now)
        case .delay(let amount, let jitter, let isOvertaken):
            let chance = rules[index].chances[seen.direction].interval(upTo: jitter)
            let extra = Interval(nanoseconds: amount.nanoseconds + chance.nanoseconds)
            fate.delay.nanoseconds = min(fate.delay.nanoseconds, .max - extra.nanoseconds) + extra.nanoseconds
            fate.isOvertaken = fate.isOvertaken || isOvertaken
            report(index, seen, passed: total(fate.frames), "\(extra.inMilliseconds) later", at: now)
        case .duplicate(let copies):
            fate.frames = fate.frames.flatMap { Array(repeating: $0, count: copies) }
            report(index, seen, passed: total(fate.frames), "\(copies) times", at: now)
        case .swap:
            guard fate.hold == nil, !waits(seen, isNew: false) else {
                return report(
                    index, seen, passed: total(fate.frames), "\(ActionReport.notDone): it waits for the end of a hold",
                    at: now)
            }
            fate.isSwapped = true
            report(index, seen, passed: total(fate.frames), "after the next frame", at: now)
        case .hold(let hold):
            guard !fate.isSwapped, fate.ending == nil else {
                let detail =
                    "\(ActionReport.notDone): a rule before it has \(fate.isSwapped ? "swapped" : "truncated") the frame"
                return report(index, seen, passed: total(fate.frames), detail, at: now)
            }
            fate.hold = (index, hold)
            report(index, seen, passed: total(fate.frames), at: now)
        case .truncate(let count, let ending):
            fate.frames = fate.frames.prefix(1).map { Array($0.prefix(count)) }.filter { !$0.isEmpty }
            fate.shape = nil
            fate.ending = ending
            let end = ending == .fin ? "FIN" : "RST"
            report(index, seen, passed: total(fate.frames), "followed by a \(end)", at: now)
        case .inject(let injection):
            guard sides[injection.from ?? seen.direction].injected.count < Self.mostInjected else {
                let detail =
                    "\(ActionReport.notDone): \(Self.mostInjected) frames wait for the end of one that has begun to pass"
                return report(index, seen, length: 0, passed: 0, detail, at: now)
            }
            if injection.isBefore { fate.before.append(injection) } else { fate.after.append(injection) }
            let place = "\(injection.bytes.count) bytes \(injection.isBefore ? "before" : "after")"
            if let from = injection.from, from != seen.direction {
                let detail = "\(place) frame #\(seen.values.info.index) of the \(seen.direction.sender)"
                let rule = rules[index].rule
                actions.append(
                    .report(
                        ActionReport(
                            rule: rule.name, action: rule.actionName, direction: from, time: now,
                            offset: sides[from].base, length: 0, passed: injection.bytes.count, detail: detail,
                            after: injection.bytes)))
            } else {
                report(
                    index, seen, length: 0, passed: injection.bytes.count, "\(place) it", after: injection.bytes,
                    at: now)
            }
        case .segment(let segmentation): fate.segmentation = (index, segmentation)
        case .replace(let replacement):
            change(index, seen, &fate, at: now) { frame, format, shape, _ in
                try frame.withContent(shape, format) { content, shape throws(EncodingError) in
                    try format.edit(
                        content, shape, changes: replacement.fields, body: replacement.body, isRaw: replacement.isRaw)
                }
            }
        case .corrupt(let corruption):
            change(index, seen, &fate, at: now) { frame, format, shape, chance in
                try FrameCorruption(corruption).flip(frame, shape, format, &chance)
            }
        }
    }

    /// Changes the bytes of a frame; one that cannot be changed passes as it is, and that is reported.
    private mutating func change(
        _ index: Int, _ seen: Seen, _ fate: inout Fate, at now: Timestamp,
        _ edit: ([UInt8], DirectionFormat, FrameShape, inout Chance) throws -> [UInt8]
    ) {
        guard let frame = fate.frames.first else { return }
        do {
            guard let shape = fate.shape else { throw EncodingError("a rule before it has left no whole frame") }
            let changed = try edit(frame, seen.format, shape, &rules[index].chances[seen.direction])
            fate.shape = Self.shape(of: changed, seen.format, like: shape)
            fate.frames = fate.frames.map { _ in changed }
            report(index, seen, passed: changed.count * fate.frames.count, before: frame, after: changed, at: now)
        } catch {
            var reason = "\(error)"
            if !format.secrets.isEmpty, let error = error as? EncodingError { reason = error.withoutValues }
            report(index, seen, passed: frame.count, "\(ActionReport.notDone): \(reason)", at: now)
        }
    }

    /// The parts of a frame whose bytes were changed; nil if they are no frame of the same kind any more.
    private static func shape(of bytes: [UInt8], _ format: DirectionFormat, like old: FrameShape) -> FrameShape? {
        guard !bytes.isEmpty else { return nil }
        var memory = ScanMemory()
        let scan = format.rule.scan(bytes.span.bytes, from: 0, origin: 0, ended: true, memory: &memory)
        guard case .shape(let shape) = scan, shape.total == bytes.count, shape.layout == old.layout,
            format.rule.endFault(of: bytes.span.bytes, shape) == nil
        else { return nil }
        return shape
    }

    /// - Parameter length: how many bytes it was done to; nil: the frame's.
    private mutating func report(
        _ index: Int, _ seen: Seen, length: Int? = nil, passed: Int, _ detail: String = "", before: [UInt8] = [],
        after: [UInt8] = [], at now: Timestamp
    ) {
        var report = self.report(on: seen, by: index, passed: passed, detail, at: now)
        if let length { report.length = length }
        (report.before, report.after) = (
            Array(before.prefix(ActionReport.mostBytes)), Array(after.prefix(ActionReport.mostBytes))
        )
        actions.append(.report(report))
    }

    func report(
        on seen: Seen, by index: Int, passed: Int, _ detail: String, at now: Timestamp
    ) -> ActionReport {
        let (rule, info) = (rules[index].rule, seen.values.info)
        return ActionReport(
            rule: rule.name, action: rule.actionName, direction: seen.direction, time: now, index: info.index,
            type: seen.type, offset: info.offset, length: info.length, passed: passed, detail: detail)
    }

    // MARK: Passing

    private mutating func pass(_ fate: Fate, _ seen: Seen, at now: Timestamp) {
        let direction = seen.direction
        func own(_ injections: [FrameAction.Injection]) -> [[UInt8]] {
            injections.filter { ($0.from ?? direction) == direction }.map(\.bytes)
        }
        for injection in fate.before + fate.after where (injection.from ?? direction) != direction {
            inject(injection.bytes, direction.opposite, at: now)
        }
        let all = own(fate.before) + fate.frames + own(fate.after)
        // Whatever else makes it wait, a delayed frame does not pass earlier.
        let due: Timestamp? = fate.delay > .seconds(0) ? now + fate.delay : nil
        if let (rule, hold) = fate.hold {
            sides[direction].hold = (rule, now, hold.longest.map { now + $0 })
        }
        if let ending = fate.ending {
            end(direction, with: all, due: due ?? now, ending, at: now)
        } else if waits(seen, isNew: fate.hold != nil) {
            for bytes in all { sides[direction].keep(bytes, until: due, isOvertaken: fate.isOvertaken) }
        } else if fate.isSwapped {
            let bytes = all.flatMap { $0 }
            guard !bytes.isEmpty else { return }
            sides[direction].swapped = WaitingBytes(bytes: bytes, due: due, isOvertaken: fate.isOvertaken)
            sides[direction].swappedSince = now
        } else if let (rule, segmentation) = fate.segmentation {
            segment(seen, by: rule, segmentation, at: now)
        } else {
            join(direction, at: now)
            if fate.isTouched {
                flush(direction, at: now)
                for bytes in all { emit(bytes, direction, at: due ?? now, isOvertaken: fate.isOvertaken) }
            } else {
                sides[direction].passing += seen.bytes
            }
            passSwapped(direction, at: now)
        }
    }

    /// Whether a frame waits for the end of its direction's hold.
    private func waits(_ seen: Seen, isNew: Bool) -> Bool {
        guard let hold = sides[seen.direction].hold,
            case .frame(.hold(let rule)) = rules[hold.rule].rule.action
        else { return false }
        return isNew || rule.passing == nil || !seen.fulfils(rule.passing)
    }

    /// A rule ends a direction after these bytes; everything before them passes.
    private mutating func end(
        _ direction: Direction, with last: [[UInt8]], due: Timestamp, _ ending: Ending, at now: Timestamp
    ) {
        join(direction, at: now)
        releaseHold(direction, at: now)
        passSwapped(direction, at: now)
        flush(direction, at: now)
        for bytes in last { emit(bytes, direction, at: due) }
        sides[direction].isOver = true
        sides[direction].discard()
        actions.append(.end(ending, direction))
    }

    /// A frame that was not sent, between two frames of a direction.
    mutating func inject(_ bytes: [UInt8], _ direction: Direction, at now: Timestamp) {
        if sides[direction].isOver { return }
        if sides[direction].isInsideFrame {
            sides[direction].injected.append(bytes)
        } else {
            passAlone(bytes, direction, at: now)
        }
    }
}
