import Streams

/// The stages of one connection, one after the other, and their emissions that are not due yet: a value without sockets.
///
/// In each direction bytes keep their order unless a stage says otherwise. A FIN follows the data emitted before it; a RST waits
/// for that data, but not for long. The amount held is bounded: above the limit reading pauses, and data held for too long
/// passes.
package struct StageChain {
    /// How much is held, and for how long.
    package struct Limits: Hashable, Sendable {
        /// If more than this many bytes of a direction are held, reading it pauses until half of them have passed.
        package var bytes = 1 << 20
        /// Data held for this long passes, whatever the stages say; but what waits for a slow line waits on.
        package var time = Interval.seconds(60)
        /// How long a RST waits for the data emitted before it.
        package var reset = Interval.seconds(10)

        /// The defaults.
        package init() {}
    }

    /// What to do.
    package enum Output: Hashable, Sendable {
        /// Write bytes to the receiver of a direction, in one write.
        case write([UInt8], Direction, cause: String? = nil)
        /// Pass an end on to the receiver of a direction.
        case end(Ending, Direction)
        /// Stop reading a direction.
        case pause(Direction)
        /// Continue reading.
        case resume(Direction)
        /// This many bytes of a direction passed because they had been held for too long.
        case released(Int, Direction)
        /// This many bytes of a direction are lost: a RST could not wait for them any longer.
        case discarded(Int, Direction)
        /// What was written to the receiver of a direction must have been read before more is written to it. With the last cut of
        /// a frame comes what to report when that is known.
        case cut(Direction, report: ActionReport?)
        /// A stage reports what it did.
        case report(ActionReport)
        /// A stage says what came of a decision.
        case decided(StageCommand.Outcome)
    }

    private struct Step {
        var stage: any Stage
        var queues = PerDirection(fromClient: EmissionQueue(), fromServer: EmissionQueue())
        var wake: Timestamp?
        /// Which directions it wants to pause.
        var pauses = PerDirection(fromClient: false, fromServer: false)
        /// Since when it keeps bytes itself.
        var keepsSince = PerDirection<Timestamp?>(fromClient: nil, fromServer: nil)
    }

    private var steps: [Step]
    private let limits: Limits
    private var isPaused = PerDirection(fromClient: false, fromServer: false)
    /// When a RST stops waiting.
    private var resetAt = PerDirection<Timestamp?>(fromClient: nil, fromServer: nil)
    /// The ends that have passed: only a RST follows a FIN, and nothing a RST.
    private var ended = PerDirection<Ending?>(fromClient: nil, fromServer: nil)
    /// The direction after whose bytes a stage resets both sides, and whether all of them have passed.
    private var resetBoth: (after: Direction, isDue: Bool)?
    private var outputs: [Output] = []

    /// A chain of stages; the first takes what is read.
    package init(_ stages: [any Stage], limits: Limits = Limits()) {
        steps = stages.map { Step(stage: $0) }
        self.limits = limits
    }

    /// How many bytes of a direction are held.
    package func heldBytes(_ direction: Direction) -> Int {
        // A stage may still keep bytes of a direction that was reset: they are lost.
        ended[direction] == .reset
            ? 0 : steps.reduce(0) { $0 + $1.queues[direction].byteCount + $1.stage.heldBytes[direction] }
    }

    /// When the chain must be woken; nil if nothing is pending.
    package var nextWake: Timestamp? {
        let directions = Direction.allCases.filter { ended[$0] != .reset }
        // Nothing passes any more.
        if directions.isEmpty { return nil }
        var times = directions.compactMap { resetAt[$0] }
        for step in steps {
            if let wake = step.wake { times.append(wake) }
            for direction in directions {
                if let first = step.queues[direction].first { times.append(min(first.due, first.since + limits.time)) }
                if let since = step.keepsSince[direction] { times.append(since + limits.time) }
            }
        }
        return times.min()
    }

    /// Takes an event of the connection.
    ///
    /// - Parameter now: the time, never earlier than before.
    package mutating func take(_ event: StageEvent, at now: Timestamp) -> [Output] {
        if case .end(.reset, let direction) = event, resetAt[direction] == nil {
            resetAt[direction] = now + limits.reset
        }
        switch event {
        case .bytes, .end: pass(event, to: 0, at: now)
        case .began, .command: for index in steps.indices { pass(event, to: index, at: now) }
        case .wake, .release: break
        }
        return finish(at: now)
    }

    /// What is due now, and everything to do.
    private mutating func finish(at now: Timestamp) -> [Output] {
        for index in steps.indices { meet(index, at: now) }
        for direction in Direction.allCases {
            if let time = resetAt[direction], time <= now { cutOff(direction) }
        }
        if let reset = resetBoth, reset.isDue {
            resetBoth = nil
            output(.end(.reset, reset.after))
            cutOff(reset.after.opposite)
        }
        for direction in Direction.allCases { adjustReading(of: direction) }
        defer { outputs = [] }
        return outputs
    }

    /// Takes the next bytes of a direction.
    ///
    /// - Returns: what to do; nil if that is to write them to the receiver as they are.
    package mutating func pass(_ bytes: RawSpan, _ direction: Direction, at now: Timestamp) -> [Output]? {
        // Of several stages each would have to agree, and the first would have taken them by then.
        guard steps.count == 1, steps[0].queues[direction].isEmpty, ended[direction] == nil, resetAt[direction] == nil
        else { return take(.bytes(bytes.copied(), direction), at: now) }
        guard let actions = steps[0].stage.pass(bytes, direction, at: now) else { return nil }
        perform(actions, of: 0, at: now)
        settle(0, at: now)
        return finish(at: now)
    }

    // MARK: Steps

    /// Passes an event on to a stage, or out after the last one.
    private mutating func pass(_ event: StageEvent, to index: Int, at now: Timestamp) {
        guard index < steps.count else { return output(event) }
        perform(steps[index].stage.take(event, at: now), of: index, at: now)
        settle(index, at: now)
    }

    /// Passes on what a stage has emitted, and notes since when it keeps bytes.
    private mutating func settle(_ index: Int, at now: Timestamp) {
        let (held, since) = (steps[index].stage.heldBytes, steps[index].stage.heldSince)
        let releases = steps[index].stage.releases
        for direction in Direction.allCases {
            if held[direction] == 0 || !releases {
                steps[index].keepsSince[direction] = nil
            } else if let since {
                steps[index].keepsSince[direction] = since[direction] ?? now
            } else if steps[index].keepsSince[direction] == nil {
                steps[index].keepsSince[direction] = now
            }
            drain(index, direction, at: now)
        }
    }

    private mutating func perform(_ actions: [StageAction], of index: Int, at now: Timestamp) {
        for action in actions {
            switch action {
            case .emit(let bytes, let direction, let due, let overtakes, let cause):
                guard !bytes.isEmpty, ended[direction] != .reset else { continue }
                if ended[direction] != nil { outputs.append(.discarded(bytes.count, direction)) }
                if overtakes {
                    steps[index].queues[direction].insert(.bytes(bytes, cause: cause), due: due, at: now)
                } else {
                    steps[index].queues[direction].append(.bytes(bytes, cause: cause), due: due, at: now)
                }
            case .end(let ending, let direction):
                steps[index].queues[direction].append(.end(ending), due: now, at: now)
            case .resetBoth(let direction):
                resetBoth = (after: direction, isDue: false)
                steps[index].queues[direction].append(.end(.reset), due: now, at: now)
            case .wake(let time): steps[index].wake = time
            case .pause(let direction): steps[index].pauses[direction] = true
            case .resume(let direction): steps[index].pauses[direction] = false
            case .cut(let direction, let report): steps[index].queues[direction].cut(report, at: now)
            case .report(let report): outputs.append(.report(report))
            case .decided(let outcome): outputs.append(.decided(outcome))
            }
        }
    }

    /// Passes on the data that is due.
    private mutating func drain(_ index: Int, _ direction: Direction, at now: Timestamp) {
        while let first = steps[index].queues[direction].first {
            let isOverdue = first.since + limits.time <= now
            guard first.due <= now || isOverdue, let emission = steps[index].queues[direction].popFirst() else {
                return
            }
            switch emission.content {
            case .bytes(let bytes, let cause):
                if emission.due > now { outputs.append(.released(bytes.count, direction)) }
                if index + 1 < steps.count {
                    pass(.bytes(bytes, direction), to: index + 1, at: now)
                } else if ended[direction] == nil {
                    outputs.append(.write(bytes, direction, cause: cause))
                }
            case .cut(let report):
                // A stage after this one decides anew what is written together.
                if index + 1 == steps.count, ended[direction] == nil {
                    outputs.append(.cut(direction, report: report))
                } else if let report {
                    outputs.append(.report(report))
                }
            case .end(let ending): pass(.end(ending, direction), to: index + 1, at: now)
            }
        }
    }

    private mutating func output(_ event: StageEvent) {
        switch event {
        case .bytes(let bytes, let direction):
            if ended[direction] == nil { outputs.append(.write(bytes, direction)) }
        // What is due in the other direction passes before.
        case .end(.reset, let direction) where resetBoth?.after == direction: resetBoth?.isDue = true
        case .end(let ending, let direction):
            guard ended[direction] == nil || (ended[direction] == .fin && ending == .reset) else { return }
            ended[direction] = ending
            outputs.append(.end(ending, direction))
        case .began, .wake, .release, .command: break
        }
    }

    // MARK: Time and limits

    private mutating func meet(_ index: Int, at now: Timestamp) {
        if let wake = steps[index].wake, wake <= now {
            steps[index].wake = nil
            pass(.wake, to: index, at: now)
        }
        for direction in Direction.allCases where ended[direction] != .reset {
            if let since = steps[index].keepsSince[direction], since + limits.time <= now {
                let (held, place) = (steps[index].stage.heldBytes[direction], outputs.endIndex)
                pass(.release(direction), to: index, at: now)
                // It may go on keeping some of it. What passes is reported first.
                let released = held - steps[index].stage.heldBytes[direction]
                if released > 0 { outputs.insert(.released(released, direction), at: place) }
                // A stage that still keeps the data is asked again after the same time.
                if steps[index].keepsSince[direction] != nil { steps[index].keepsSince[direction] = now }
            }
            drain(index, direction, at: now)
        }
    }

    /// A RST stops waiting: the data that it waited for is lost.
    private mutating func cutOff(_ direction: Direction) {
        guard ended[direction] != .reset else { return }
        let lost = heldBytes(direction)
        for index in steps.indices { _ = steps[index].queues[direction].removeAll() }
        if lost > 0 { outputs.append(.discarded(lost, direction)) }
        output(.end(.reset, direction))
    }

    private mutating func adjustReading(of direction: Direction) {
        let held = heldBytes(direction)
        let wantsPause =
            steps.contains { $0.pauses[direction] } || held > (isPaused[direction] ? limits.bytes / 2 : limits.bytes)
        guard wantsPause != isPaused[direction] else { return }
        isPaused[direction] = wantsPause
        outputs.append(wantsPause ? .pause(direction) : .resume(direction))
    }
}
