import Expressions
import Framing
import Streams

/// What rules do to one frame.
extension FrameStage {
    /// What becomes of a frame.
    private struct Fate {
        /// What passes of it, each a write of its own if there are several.
        var frames: [[UInt8]]
        var before: [FrameAction.Injection] = []
        var after: [FrameAction.Injection] = []
        var delay = Interval.seconds(0)
        var isOvertaken = false
        var isSwapped = false
        var hold: (rule: Int, hold: FrameAction.Hold)?
        var ending: Ending?
        /// Whether it is written by itself: what a rule touched is.
        var isTouched = false
    }

    /// A frame, and what conditions read of it.
    private struct Seen {
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
        var fate = Fate(frames: [bytes])
        for index in rules.indices where selects(index, seen, at: now) { apply(index, seen, &fate, at: now) }
        for index in rules.indices { arm(index, seen) }
        for other in Direction.allCases {
            guard let hold = sides[other].hold, case .frame(.hold(let rule)) = rules[hold.rule].rule.action,
                let until = rule.until, fate.hold?.rule != hold.rule, seen.fulfils(until)
            else { continue }
            report(hold.rule, seen, passed: bytes.count, "released", at: now)
            releaseHold(other)
        }
        pass(fate, seen, at: now)
    }

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
            rules[index].applied < rule.selection.times ?? .max, seen.fulfils(rule.selection.when)
        else { return false }
        rules[index].matched[seen.direction] += 1
        let number = rules[index].matched[seen.direction]
        if let nth = rule.selection.nth, number != nth { return false }
        if let every = rule.selection.every, !number.isMultiple(of: every) { return false }
        if let probability = rule.selection.probability,
            !rules[index].chances[seen.direction].happens(probability)
        {
            return false
        }
        rules[index].applied += 1
        return true
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
            fate.delay.nanoseconds += extra.nanoseconds
            fate.isOvertaken = fate.isOvertaken || isOvertaken
            report(index, seen, passed: total(fate.frames), "\(extra.inMilliseconds) later", at: now)
        case .duplicate(let copies):
            fate.frames = fate.frames.flatMap { Array(repeating: $0, count: copies) }
            report(index, seen, passed: total(fate.frames), "\(copies) times", at: now)
        case .swap:
            fate.isSwapped = true
            report(index, seen, passed: total(fate.frames), "behind the next frame", at: now)
        case .hold(let hold):
            if sides[seen.direction].hold != nil { return }
            fate.hold = (index, hold)
            report(index, seen, passed: total(fate.frames), at: now)
        case .truncate(let count, let ending):
            fate.frames = fate.frames.prefix(1).map { Array($0.prefix(count)) }.filter { !$0.isEmpty }
            fate.ending = ending
            let end = ending == .fin ? "FIN" : "RST"
            report(index, seen, passed: total(fate.frames), "followed by a \(end)", at: now)
        case .inject(let injection):
            if injection.isBefore { fate.before.append(injection) } else { fate.after.append(injection) }
            let place = injection.isBefore ? "before" : "after"
            report(
                index, seen, passed: total(fate.frames) + injection.bytes.count,
                "\(injection.bytes.count) bytes \(place) it", after: injection.bytes, at: now)
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
            let changed = try edit(
                frame, seen.format, seen.values.info.shape, &rules[index].chances[seen.direction])
            fate.frames = fate.frames.map { _ in changed }
            report(index, seen, passed: changed.count * fate.frames.count, before: frame, after: changed, at: now)
        } catch {
            report(index, seen, passed: frame.count, "not done: \(error)", at: now)
        }
    }

    private mutating func report(
        _ index: Int, _ seen: Seen, passed: Int, _ detail: String = "", before: [UInt8] = [], after: [UInt8] = [],
        at now: Timestamp
    ) {
        let (rule, info) = (rules[index].rule, seen.values.info)
        actions.append(
            .report(
                ActionReport(
                    rule: rule.name, action: rule.actionName, direction: seen.direction, time: now, index: info.index,
                    type: seen.type, offset: info.offset, length: info.length, passed: passed, detail: detail,
                    before: before, after: after)))
    }

    // MARK: Passing

    private mutating func pass(_ fate: Fate, _ seen: Seen, at now: Timestamp) {
        let direction = seen.direction
        for injection in fate.before { inject(injection, direction, at: now) }
        if let (rule, hold) = fate.hold {
            sides[direction].hold = (rule, hold.longest.map { now + $0 })
        }
        if let hold = sides[direction].hold, case .frame(.hold(let rule)) = rules[hold.rule].rule.action,
            fate.hold != nil || rule.passing == nil || !seen.fulfils(rule.passing)
        {
            sides[direction].held += fate.frames
        } else if fate.isSwapped, sides[direction].swapped.isEmpty {
            sides[direction].swapped = fate.frames.flatMap { $0 }
        } else {
            if !fate.isTouched {
                sides[direction].passing += seen.bytes
            } else {
                flush(direction, at: now)
                for frame in fate.frames {
                    emit(
                        frame, direction, at: now + fate.delay, isOvertaken: fate.isOvertaken,
                        cause: rules.first?.rule.name)
                }
            }
            sides[direction].passing += sides[direction].swapped
            sides[direction].swapped = []
        }
        for injection in fate.after { inject(injection, direction, at: now) }
        if let ending = fate.ending {
            flush(direction, at: now)
            sides[direction].isOver = true
            sides[direction].discard()
            actions.append(.end(ending, direction))
        }
    }

    /// Between two frames of its direction: an incomplete one is kept here.
    private mutating func inject(_ injection: FrameAction.Injection, _ direction: Direction, at now: Timestamp) {
        let direction = injection.from ?? direction
        flush(direction, at: now)
        emit(injection.bytes, direction, at: now)
    }
}

extension Interval {
    /// `12.5 ms`
    fileprivate var inMilliseconds: String {
        let (whole, part) = (nanoseconds / 1_000_000, nanoseconds / 1_000 % 1_000)
        guard part != 0 else { return "\(whole) ms" }
        let digits = String(1_000 + part).dropFirst()
        return "\(whole).\(digits) ms"
    }
}
