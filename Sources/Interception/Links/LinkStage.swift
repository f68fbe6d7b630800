import Streams

/// Applies rules to all bytes of a connection: what a slow, narrow or broken line would do.
package struct LinkStage: Stage {
    /// What waits to pass in one direction, in order.
    private struct Line {
        /// How many bytes have arrived.
        var arrived = 0
        var waiting: [UInt8] = []
        /// Where the first of them is in the stream.
        var start = 0
        /// When the last byte will have passed at the allowed rate.
        var free: Timestamp?
        var stalledUntil: Timestamp?
        var ending: Ending?
        /// Whether its reset waits for the bytes of the other direction, which a rule has counted.
        var resetsWithOther = false
        var isPaused = false
        /// Whether bytes are discarded from now on.
        var isCut = false
        /// Whether its end has passed.
        var isOver = false
        /// When the last of its slices passes.
        var sliced: Timestamp?
        /// When its end may pass.
        var endDue: Timestamp?
    }

    private var rules: [NumberedRule]
    private var lines = PerDirection(fromClient: Line(), fromServer: Line())
    private var opened = Timestamp(nanoseconds: 0)
    private var actions: [StageAction] = []
    private var seed: UInt64 = 0
    private var connection = 0

    /// If more than this many bytes wait for their turn, reading pauses.
    private static let mostWaiting = 64 << 10

    init(_ rules: [NumberedRule]) { self.rules = rules }

    /// A line whose rules come by command.
    ///
    /// - Parameters:
    ///   - seed: decides what rules do by chance.
    ///   - connection: the connection's number.
    package init(_ rules: [LineRule], seed: UInt64, connection: Int) {
        self.rules = []
        (self.seed, self.connection) = (seed, connection)
        set(rules, at: nil)
    }

    /// What waits for its turn is lost if a RST does not wait for it.
    package var heldBytes: PerDirection<Int> {
        PerDirection(fromClient: lines.fromClient.waiting.count, fromServer: lines.fromServer.waiting.count)
    }

    /// A slow line stays slow, however long that takes.
    package var releases: Bool { false }

    /// Takes an event of its connection.
    package mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
        switch event {
        case .began:
            opened = now
            for index in rules.indices where rules[index].rule.action.refuses && rules[index].rule.isOpen(.seconds(0)) {
                close(index, .reset, .fromClient, 0, at: now)
            }
        case .bytes(let bytes, let direction):
            if !lines[direction].isCut, lines[direction].ending == nil { arrive(bytes, direction, at: now) }
        case .end(let ending, let direction):
            // What a rule has ended, ends like that; but a reset may follow a FIN.
            if ending == .reset, lines[direction].isOver { actions.append(.end(.reset, direction)) }
            if lines[direction].ending == nil || ending == .reset { lines[direction].ending = ending }
            if ending == .reset { lines[direction].resetsWithOther = false }
            if ending == .fin { lines[direction].endDue = now + slowness(of: direction, at: now) }
            if lines[direction].ending == .fin,
                let index = rules.indices.first(where: { isSilent($0, direction, at: now) })
            {
                if rules[index].armed == nil { rules[index].armed = now }
                // The end does not pass either.
                lines[direction].ending = nil
            }
        case .command(.setLine(let rules)): set(rules, at: now)
        case .wake, .release, .command: break
        }
        meetDeadlines(at: now)
        for direction in Direction.allCases { pass(direction, at: now) }
        wake(at: now)
        defer { actions = [] }
        return actions
    }

    // MARK: Arriving

    private mutating func arrive(_ bytes: [UInt8], _ direction: Direction, at now: Timestamp) {
        if let index = rules.indices.first(where: { isSilent($0, direction, at: now) }) {
            if rules[index].armed == nil { rules[index].armed = now }
            if rules[index].applied[direction] == 0 {
                rules[index].applied[direction] = 1
                report(index, direction, offset: lines[direction].arrived, bytes.count, passed: 0, at: now)
            }
            lines[direction].arrived += bytes.count
            return
        }
        var (rest, position) = (bytes[...], lines[direction].arrived)
        lines[direction].arrived += bytes.count
        while let next = nextReached(direction, at: now) {
            let passing = max(0, next.threshold - position)
            wait(for: rest.prefix(passing), at: position, direction, at: now)
            rest = rest.dropFirst(passing)
            position += passing
            rules[next.index].applied[direction] = 1
            switch next.action {
            case .stall(let time, _):
                pass(direction, at: now)
                lines[direction].stalledUntil = max(lines[direction].stalledUntil ?? now, now + time)
                report(next.index, direction, offset: position, rest.count, passed: rest.count, at: now)
            case .limit(_, let ending): return close(next.index, ending, after: position, of: direction, at: now)
            case .reset: return close(next.index, .reset, after: position, of: direction, at: now)
            case .halfClose:
                lines[direction].ending = .fin
                return report(next.index, direction, offset: position, rest.count, passed: 0, at: now)
            case .blackhole:
                lines[direction].isCut = true
                return report(next.index, direction, offset: position, rest.count, passed: 0, at: now)
            case .latency, .rate, .refuse, .slice, .slowClose, .timeout, .resetLater: break
            }
        }
        wait(for: rest, at: position, direction, at: now)
    }

    /// The rule whose count of bytes the stream has reached first, of those that have not done anything yet: in the order of the
    /// stream, so that nothing depends on the pieces in which it arrives.
    ///
    /// - Returns: the rule, and after how many bytes of the direction it does something; nil if there is none.
    private func nextReached(
        _ direction: Direction, at now: Timestamp
    ) -> (index: Int, action: LinkAction, threshold: Int)? {
        var first: (index: Int, action: LinkAction, trigger: Int, threshold: Int)?
        for index in rules.indices where rules[index].applied[direction] == 0 && applies(index, direction, at: now) {
            guard case .link(let action) = rules[index].rule.action, let threshold = action.threshold,
                let trigger = action.trigger
            else { continue }
            // Of a rule that came later, the count began then.
            let origin = rules[index].start?.offset[direction] ?? 0
            let reached = (trigger: origin + trigger, threshold: origin + threshold)
            guard reached.trigger <= lines[direction].arrived else { continue }
            if let first, (first.trigger, first.threshold) <= (reached.trigger, reached.threshold) { continue }
            first = (index, action, reached.trigger, reached.threshold)
        }
        return first.map { ($0.index, $0.action, $0.threshold) }
    }

    private mutating func wait(
        for bytes: ArraySlice<UInt8>, at offset: Int, _ direction: Direction, at now: Timestamp
    ) {
        if lines[direction].waiting.isEmpty {
            // A line that was idle begins to be used now.
            lines[direction].free = max(lines[direction].free ?? now, now)
            lines[direction].start = offset
        }
        lines[direction].waiting += bytes
    }

    private func applies(_ index: Int, _ direction: Direction, at now: Timestamp) -> Bool {
        let rule = rules[index].rule
        return rule.from ?? direction == direction && rule.isOpen(now - opened)
    }

    /// Ends both directions once this many bytes of one have passed: a reset ends both sides at once, and would overtake them.
    private mutating func close(
        _ index: Int, _ ending: Ending, after count: Int, of direction: Direction, at now: Timestamp
    ) {
        close(index, ending, direction, count, at: now)
        if ending == .reset { lines[direction.opposite].resetsWithOther = true }
    }

    /// Ends both directions.
    private mutating func close(
        _ index: Int, _ ending: Ending, _ direction: Direction, _ offset: Int, at now: Timestamp
    ) {
        rules[index].applied = PerDirection(fromClient: 1, fromServer: 1)
        rules[index].hasClosed = true
        report(
            index, direction, offset: offset, lines[direction].arrived - offset, passed: 0, at: now,
            ending == .fin ? "both sides get a FIN" : "both sides get a RST")
        for direction in Direction.allCases where !lines[direction].isOver { lines[direction].ending = ending }
    }

    private mutating func report(
        _ index: Int, _ direction: Direction, offset: Int, _ length: Int, passed: Int, at now: Timestamp,
        _ detail: String = ""
    ) {
        let rule = rules[index].rule
        actions.append(
            .report(
                ActionReport(
                    rule: rule.name, action: rule.actionName, direction: direction, time: now, offset: offset,
                    length: length, passed: passed, detail: detail)))
    }

    // MARK: Passing

    private mutating func pass(_ direction: Direction, at now: Timestamp) {
        if let until = lines[direction].stalledUntil {
            guard until <= now else { return setPaused(direction) }
            lines[direction].stalledUntil = nil
        }
        reportSlowing(direction, at: now)
        if let rate = rate(of: direction, at: now) {
            // At none, nothing passes until the rule changes.
            if rate > 0 { drip(direction, rate, at: now) }
        } else {
            emit(lines[direction].waiting.count, direction, at: now)
            lines[direction].free = now
        }
        setPaused(direction)
        guard lines[direction].waiting.isEmpty, let ending = lines[direction].ending, !lines[direction].isOver else {
            return
        }
        if ending == .reset {
            guard !lines[direction].resetsWithOther else { return }
            lines[direction].isOver = true
            let isForBoth = lines[direction.opposite].resetsWithOther
            actions.append(isForBoth ? .resetBoth(after: direction) : .end(.reset, direction))
        } else if lines[direction].endDue ?? now <= now {
            lines[direction].isOver = true
            actions.append(.end(.fin, direction))
        }
    }

    private mutating func emit(_ count: Int, _ direction: Direction, at now: Timestamp) {
        guard count > 0 else { return }
        var due = now
        for index in rules.indices where applies(index, direction, at: now) {
            if case .link(.latency(let amount, let jitter)) = rules[index].rule.action {
                due = due + amount + rules[index].chances[direction].interval(upTo: jitter)
            }
        }
        var start = 0
        for (piece, pause) in pieces(of: count, direction, at: now) {
            if pause > .seconds(0) {
                due = max(due, (lines[direction].sliced ?? due) + pause)
                lines[direction].sliced = due
            }
            actions.append(.emit(Array(lines[direction].waiting[start..<start + piece]), direction, at: due))
            start += piece
        }
        // Together: each removal moves what is left.
        lines[direction].waiting.removeFirst(start)
        lines[direction].start += start
    }

    /// Reports what slows the bytes that wait, once for each rule and direction.
    private mutating func reportSlowing(_ direction: Direction, at now: Timestamp) {
        let (start, count) = (lines[direction].start, lines[direction].waiting.count)
        guard count > 0 else { return }
        for index in rules.indices where rules[index].applied[direction] == 0 && applies(index, direction, at: now) {
            guard case .link(let action) = rules[index].rule.action, let detail = action.slowing else { continue }
            // Of several rates, the lowest one applies.
            if case .rate(let own) = action, own != rate(of: direction, at: now) { continue }
            rules[index].applied[direction] = 1
            report(index, direction, offset: start, count, passed: count, at: now, detail)
        }
    }

    /// In which pieces bytes are written, each after a pause.
    private mutating func pieces(of count: Int, _ direction: Direction, at now: Timestamp) -> [(Int, Interval)] {
        for index in rules.indices where applies(index, direction, at: now) {
            guard case .link(.slice(let size, let variation, let pause)) = rules[index].rule.action else { continue }
            var (pieces, left): ([(Int, Interval)], Int) = ([], count)
            while left > 0 {
                let change = variation > 0 ? rules[index].chances[direction].below(2 * variation + 1) - variation : 0
                let piece = min(left, max(1, size + change))
                pieces.append((piece, pause))
                left -= piece
            }
            return pieces
        }
        return [(count, .seconds(0))]
    }

    /// The lowest rate that applies, in bytes a second.
    private func rate(of direction: Direction, at now: Timestamp) -> Int? {
        rules.indices.compactMap { index in
            guard applies(index, direction, at: now), case .link(.rate(let rate)) = rules[index].rule.action else {
                return nil
            }
            return rate
        }.min()
    }

    /// Lets pass what the rate allows by now, in pieces of 10 ms.
    private mutating func drip(_ direction: Direction, _ rate: Int, at now: Timestamp) {
        let piece = max(1, rate / 100)
        var (free, count) = (lines[direction].free ?? now, 0)
        while count < lines[direction].waiting.count {
            let size = min(piece, lines[direction].waiting.count - count)
            let next = free + Interval(nanoseconds: Int64(Double(size) / Double(rate) * 1e9))
            guard next <= now else { break }
            (free, count) = (next, count + size)
        }
        lines[direction].free = free
        emit(count, direction, at: now)
    }

    private mutating func setPaused(_ direction: Direction) {
        let isFull = lines[direction].waiting.count > Self.mostWaiting
        guard isFull != lines[direction].isPaused else { return }
        lines[direction].isPaused = isFull
        actions.append(isFull ? .pause(direction) : .resume(direction))
    }

    private mutating func wake(at now: Timestamp) {
        var times: [Timestamp] = []
        for direction in Direction.allCases where !lines[direction].isOver {
            let isWaiting = !lines[direction].waiting.isEmpty
            if let until = lines[direction].stalledUntil, isWaiting || lines[direction].ending != nil {
                times.append(until)
            } else if isWaiting, let rate = rate(of: direction, at: now), rate > 0, let free = lines[direction].free {
                let size = min(max(1, rate / 100), lines[direction].waiting.count)
                times.append(free + Interval(nanoseconds: Int64(Double(size) / Double(rate) * 1e9)))
            }
            if lines[direction].ending != nil, !isWaiting, let due = lines[direction].endDue, due > now {
                times.append(due)
            }
        }
        times += rules.indices.compactMap { deadline(of: $0) }
        if let next = times.min(), next > now { actions.append(.wake(at: next)) }
    }
}

// MARK: Time, and rules by command

extension LinkStage {
    /// Which rules apply from now on; nil: from the beginning.
    private mutating func set(_ new: [LineRule], at now: Timestamp?) {
        let offset = PerDirection(fromClient: lines.fromClient.arrived, fromServer: lines.fromServer.arrived)
        var old = rules
        rules = new.enumerated().map { number, rule in
            if let known = old.firstIndex(where: { $0.rule.isSame(as: rule) }) {
                // Its numbers may be others; what it has done counts.
                var numbered = old.remove(at: known)
                numbered.rule = rule.rule
                return numbered
            }
            let chances = PerDirection(
                fromClient: Chance(seed: seed, rule: number, connection: connection, direction: .fromClient),
                fromServer: Chance(seed: seed, rule: number, connection: connection, direction: .fromServer))
            var numbered = NumberedRule(rule: rule.rule, chances: chances)
            numbered.start = now.map { ($0, offset) }
            return numbered
        }
        // Bytes are missing: what would follow is no longer what the sender said.
        if old.contains(where: \.isTimeout) {
            for direction in Direction.allCases where !lines[direction].isOver { lines[direction].ending = .fin }
        }
    }

    /// Whether a rule lets nothing pass.
    private func isSilent(_ index: Int, _ direction: Direction, at now: Timestamp) -> Bool {
        (rules[index].isTimeout || rules[index].isReset) && applies(index, direction, at: now)
    }

    /// How much later a direction ends, which is reported.
    private mutating func slowness(of direction: Direction, at now: Timestamp) -> Interval {
        var sum = Interval.seconds(0)
        for index in rules.indices where applies(index, direction, at: now) {
            if case .link(.slowClose(let time)) = rules[index].rule.action {
                sum = Interval(nanoseconds: sum.nanoseconds + time.nanoseconds)
                if rules[index].applied[direction] == 0 {
                    rules[index].applied[direction] = 1
                    let detail = "the end passes \(time.inMilliseconds) later"
                    report(index, direction, offset: lines[direction].arrived, 0, passed: 0, at: now, detail)
                }
            }
        }
        return sum
    }

    /// When a rule ends the connection.
    private func deadline(of index: Int) -> Timestamp? {
        guard !rules[index].hasClosed else { return nil }
        switch rules[index].rule.action {
        case .link(.timeout(let time?)): return (rules[index].start?.time ?? opened) + time
        // Counted from the first bytes, which do not pass.
        case .link(.resetLater(let time)): return rules[index].armed.map { $0 + time }
        default: return nil
        }
    }

    private mutating func meetDeadlines(at now: Timestamp) {
        for index in rules.indices {
            guard let deadline = deadline(of: index), deadline <= now else { continue }
            let direction = rules[index].rule.from ?? .fromServer
            let ending: Ending = rules[index].isTimeout ? .fin : .reset
            close(index, ending, direction, lines[direction].arrived, at: now)
        }
    }
}

extension NumberedRule {
    fileprivate var isReset: Bool { if case .link(.resetLater) = rule.action { true } else { false } }
    fileprivate var isTimeout: Bool { if case .link(.timeout) = rule.action { true } else { false } }
}

extension Rule {
    fileprivate func isSame(as other: LineRule) -> Bool {
        guard case .link(let action) = action else { return false }
        return name == other.name && action.kind == other.action.kind && from == other.from
    }
}

extension Rule.Action {
    /// Whether clients are refused.
    fileprivate var refuses: Bool { if case .link(.refuse) = self { true } else { false } }
}
