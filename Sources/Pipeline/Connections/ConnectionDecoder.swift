import Analysis
import Framing
import Streams
import Trace

/// Decodes one connection.
final class ConnectionDecoder: ConnectionReceiver, FilteredReceiver, PauseReceiver {
    let resources: ConnectionResources
    let output: TraceOutput
    // Never replaced; a variable only because `isKnownUniquelyReferenced` needs one.
    @exclusivity(unchecked) var connection: TracedConnection
    var plan: FormatPlan?
    /// How each direction is framed, once something follows from its bytes; nil while the format is unknown. Code that needs it in any case
    /// calls `decide` or `side` first; a direction whose frames end by pauses has it from its first byte.
    @exclusivity(unchecked) var sides: PerDirection<SideDecoder?> = PerDirection(
        fromClient: nil, fromServer: nil)
    /// The first chunks of directions that have no `sides` yet.
    var undecided: UndecidedChunk?
    /// What both directions have come to, if their frames depend on each other.
    var conversation: Conversation?
    var detection: Detection?
    /// If nothing is framed: the rule that gives the reason.
    var notDetected: SharedRule?
    /// The memory that its detection and its TLS hold; each side has an account of its own.
    var account = MemoryBudget.Account()
    /// Removes TLS, if the connection begins with it.
    var filter: TLSFilter?
    /// Where the conversation changes to TLS; nil if it does not, or already has.
    var upgrade: TLSUpgradeWatch?
    var isFraming = false
    /// Which directions have a deadline pending at the decoder.
    var awaitsPause = PerDirection(fromClient: false, fromServer: false)
    /// Whether it has changed to TLS.
    var isUpgraded = false
    /// Whether the proxy has removed its TLS: what was recorded is plaintext.
    var isIntercepted = false
    /// Whether it is over: what is undecided now will not be decided by more bytes.
    var isOver = false
    /// Whether it is known whether the connection begins with TLS.
    var hasBegun: Bool
    /// What it shares with its other leg; nil if it has only one.
    let changed: ChangedFrames?
    /// Why it ends, if a recording of the proxy has said so.
    var annotatedEnd: ClosedAnnotation?

    init(_ connection: TracedConnection, _ resources: ConnectionResources) {
        self.connection = connection
        (self.resources, output) = (resources, resources.output)
        changed = resources.legs.changedFrames(of: connection.connectionLeg)
        hasBegun = resources.keys == nil
        let port = connection.opening.server.port
        if let plan = resources.plans.plan(forPort: port) {
            start(plan, FormatChoice(by: .option, evidence: "requested for port \(port)"))
        } else if let plan = resources.plans.requested {
            start(plan, FormatChoice(by: .option, evidence: "requested"))
        } else {
            detection = resources.detection(of: connection, isNew: true)
        }
    }

    /// A connection of which nothing is held.
    ///
    /// - Parameter plan: how its directions are framed; nil if its format is looked for from its first bytes on.
    init(_ connection: TracedConnection, _ resources: ConnectionResources, framedBy plan: FormatPlan?) {
        (self.connection, self.resources, output) = (connection, resources, resources.output)
        (self.plan, isFraming, changed) = (plan, plan != nil, nil)
        hasBegun = isFraming || resources.keys == nil
        if !isFraming { detection = resources.detection(of: connection, isNew: false) }
    }

    // MARK: Stream events

    func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        if !output.wireAnalyses.isEmpty { captured(bytes.byteCount, false, direction, time, packet) }
        if !hasBegun { begin(with: bytes) }
        if let filter {
            filter.received(bytes, from: direction, at: time, packet: packet)
            hold(at: time)
        } else {
            passed(bytes, from: direction, at: time, packet: packet)
        }
    }

    /// The connection's first bytes decide whether TLS is looked for.
    private func begin(with bytes: RawSpan) {
        hasBegun = true
        let isWhole = connection.opening.handshake
        guard let keys = resources.keys, TLSFilter.mayBegin(with: bytes, isWhole: isWhole) else { return }
        filter = TLSFilter(
            keys, isWhole: isWhole, describe: resources.options.tls?.describe, to: self)
    }

    @inline(__always)
    func passed(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        if !output.packetAnalyses.isEmpty { passed(bytes.byteCount, false, direction, time, packet) }
        if isUpgraded { passUpgraded(direction) }
        take(bytes, from: direction, at: time, packet: packet)
    }

    /// TLS that is not decrypted holds no frames, whatever its bytes look like.
    @inline(never)
    private func passUpgraded(_ direction: Direction) {
        guard let filter, filter.isPassing else { return }
        side(direction).recognisesNothing("TLS that was not decrypted")
    }

    private func passed(
        _ byteCount: Int, _ isMissing: Bool, _ direction: Direction, _ time: Timestamp, _ packet: Int
    ) {
        let packet = NoticedPacket(from: direction, time: time, number: packet)
        for analysis in output.packetAnalyses {
            analysis.received(byteCount, isMissing: isMissing, packet, on: connection)
        }
    }

    private func captured(
        _ byteCount: Int, _ isMissing: Bool, _ direction: Direction, _ time: Timestamp, _ packet: Int
    ) {
        let packet = NoticedPacket(from: direction, time: time, number: packet)
        for analysis in output.wireAnalyses {
            analysis.captured(byteCount, isMissing: isMissing, packet, on: connection)
        }
    }

    private func take(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        output.settle(connection, before: time, from: direction)
        if !isFraming { awaitFormat(at: time) }
        if isFraming {
            if let upgrade { return take(bytes, until: upgrade, from: direction, at: time, packet: packet) }
            frame(bytes, from: direction, at: time, packet: packet)
        } else if let (format, choice) = detection?.receive(bytes, from: direction, at: time, packet: packet) {
            start(resources.plans.plan(for: format), choice)
        } else if detection?.isExhausted == true {
            giveUpDetection()
        } else {
            hold(at: time)
        }
    }

    @inline(__always)
    private func frame(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        if (direction == .fromClient ? sides.fromClient : sides.fromServer) == nil {
            return frameFirst(bytes, from: direction, at: time, packet: packet)
        }
        // A side is not replaced by what it calls, so it needs no retain while it is in use.
        let mayPause = Unmanaged.passUnretained(side(direction))._withUnsafeGuaranteedRef {
            $0.receive(bytes, at: time, packet: packet)
        }
        if mayPause { expectPause(of: direction) }
    }

    /// Frames the first bytes of a direction, or those after them if nothing followed from the first.
    @inline(never)
    private func frameFirst(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        let isFirst = undecided?.taking(direction) == nil
        let side = begin(direction)
        if side.receive(bytes, at: time, packet: packet) { return expectPause(of: direction) }
        guard isFirst, !isOver, upgrade == nil, conversation == nil, bytes.byteCount <= UndecidedChunk.longest,
            resources.options.keepsUndecided, side.isUndecided(after: bytes.byteCount)
        else { return }
        sides[direction] = nil
        undecided = UndecidedChunk(bytes, from: direction, at: time, packet: packet, other: undecided)
    }

    /// A direction is framed from now on, even if nothing follows from its first bytes.
    private func decide(_ direction: Direction) {
        if undecided?.taking(direction) != nil { _ = begin(direction) }
    }

    /// Frames bytes up to where the conversation changes to TLS.
    private func take(
        _ bytes: RawSpan, until upgrade: TLSUpgradeWatch, from direction: Direction, at time: Timestamp, packet: Int
    ) {
        var start = 0
        while start < bytes.byteCount {
            let rest = bytes.extracting(start..<bytes.byteCount)
            let hadFault = upgrade.fault != nil
            if upgrade.beginsTLS(rest, from: direction) {
                beginTLS().received(rest, from: direction, at: time, packet: packet)
                return hold(at: time)
            }
            let count = TLSUpgradeWatch.plaintext(before: rest)
            frame(rest.extracting(0..<count), from: direction, at: time, packet: packet)
            start += count
            upgrade.took(rest, held: side(direction).framer.heldBytes, from: direction)
            if !hadFault, let fault = upgrade.fault {
                noticed(.tlsFault(fault), from: direction, at: time, packet: packet)
            }
        }
    }

    /// From now on both directions are TLS.
    private func beginTLS() -> TLSFilter {
        let filter = TLSFilter(
            resources.keys ?? TLSKeys(), isWhole: true, isExpected: true, describe: resources.options.tls?.describe,
            to: self)
        (upgrade, isUpgraded, self.filter) = (nil, true, filter)
        return filter
    }

    /// Accounts for the bytes held until the format is known, or whether TLS can be decrypted.
    func hold(at time: Timestamp) {
        if let detection, detection.isAwake, !detection.isQueued { resources.queue(detection) }
        let memory = (detection?.memory ?? 0) + (filter?.heldMemory ?? 0)
        // Small changes do not matter, and a sleeping detection grows byte by byte.
        if memory > account.held + 512 || memory < account.held {
            resources.budget.update(&account, of: self, to: memory)
            resources.budget.enforce(at: time)
        }
    }

    func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        if !output.wireAnalyses.isEmpty { captured(byteCount, true, direction, time, 0) }
        if let filter {
            filter.missing(byteCount, from: direction, at: time)
            return hold(at: time)
        }
        // What begins after a gap may be anything.
        hasBegun = true
        passedMissing(byteCount, from: direction, at: time)
    }

    func passedMissing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        if !output.packetAnalyses.isEmpty { passed(byteCount, true, direction, time, 0) }
        miss(byteCount, from: direction, at: time)
    }

    private func miss(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        output.settle(connection, before: time, from: direction)
        if !isFraming { awaitFormat(at: time) }
        if isFraming {
            side(direction).missing(byteCount, at: time)
        } else if let (format, choice) = detection?.missing(byteCount, from: direction, at: time) {
            start(resources.plans.plan(for: format), choice)
        }
    }

    func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
        if let filter {
            filter.finished(ending, from: direction, at: time)
            return hold(at: time)
        }
        passedEnd(ending, from: direction, at: time)
    }

    func passedEnd(_ ending: Ending, from direction: Direction, at time: Timestamp) {
        // Earlier deadlines are judged by the bytes received by then: held bytes may still become frames.
        output.settle(connection, before: time, from: direction)
        if isFraming {
            finish(direction, at: time)
        } else if let (format, choice) = detection?.finished(ending, from: direction, at: time) {
            start(resources.plans.plan(for: format), choice)
        }
    }

    func closed(_ closing: Closing) {
        var closing = closing
        // In a capture, what the proxy ended looks as if the server had reset or refused it.
        if let annotatedEnd, closing.reason == .reset || closing.reason == .connectFailed {
            (closing.reason, closing.by) = (annotatedEnd.reason, annotatedEnd.by)
        }
        isOver = true
        filter?.closed(at: closing.time)
        filter = nil
        for direction in Direction.allCases { output.settle(connection, before: closing.time, from: direction) }
        if !isFraming { giveUpDetection() }
        // What was held until now may have changed to TLS.
        filter?.closed(at: closing.time)
        filter = nil
        for direction in Direction.allCases {
            decide(direction)
            sides[direction]?.close()
            guard awaitsPause[direction] else { continue }
            awaitsPause[direction] = false
            output.deadlines.cancelPause(of: direction, on: self, connection.connectionLeg)
        }
        let bytes = PerDirection(
            fromClient: sides.fromClient?.framer.counts ?? ByteCounts(),
            fromServer: sides.fromServer?.framer.counts ?? ByteCounts())
        connection.faults = PerDirection(
            fromClient: sides.fromClient?.counts.faults ?? FaultCounts(),
            fromServer: sides.fromServer?.counts.faults ?? FaultCounts())
        connection.hadBytes = PerDirection(
            fromClient: bytes.fromClient.bytes > 0, fromServer: bytes.fromServer.bytes > 0)
        connection.hadHeartbeats = PerDirection(
            fromClient: sides.fromClient.map { $0.counts.heartbeats > 0 } ?? false,
            fromServer: sides.fromServer.map { $0.counts.heartbeats > 0 } ?? false)
        output.analyse { $0.closed(closing, on: connection, into: &$1) }
        for sink in output.sinks { sink.closed(closing, counts: bytes, on: connection) }
        var totals = Summary.Totals()
        totals.connections = 1
        for direction in Direction.allCases {
            totals.bytes.add(bytes[direction])
            guard let counts = sides[direction]?.counts else { continue }
            totals.split += counts.split
            totals.merged += counts.merged
            totals.heartbeats += counts.heartbeats
        }
        output.count(totals, on: connection)
        resources.budget.close(&account)
        resources.legs.close(connection.connectionLeg)
    }

    /// How a direction is framed, from now on in any case.
    @inline(__always)
    func side(_ direction: Direction) -> SideDecoder {
        if let known = direction == .fromClient ? sides.fromClient : sides.fromServer { return known }
        return begin(direction)
    }

    @inline(never)
    private func begin(_ direction: Direction) -> SideDecoder {
        let plan = plan ?? resources.plans.planOfNone
        let rule = notDetected ?? conversation.map { plan.sides[direction].sharedRule.bound(to: $0, direction) }
        let side = SideDecoder(
            direction, of: connection, plan.sides[direction], resources, rule: rule, changed: changed)
        side.upgrade = upgrade
        sides[direction] = side
        if let (chunk, rest) = undecided?.taking(direction) {
            undecided = rest
            let bytes = chunk.bytes
            _ = side.receive(bytes.span.bytes, at: chunk.time, packet: chunk.packet)
        }
        return side
    }

    /// Makes the decoder look again when the frame in progress may be over, unless that is already scheduled.
    private func expectPause(of direction: Direction) {
        guard !awaitsPause[direction], let deadline = sides[direction]?.framer.idleDeadline else { return }
        awaitsPause[direction] = true
        output.deadlines.expectPause(of: direction, on: self, connection.connectionLeg, at: deadline)
    }

    /// The deadline of a direction fired: ends its frame if its sender has been silent for too long. Only this direction's
    /// deadline is armed again; the other one's is still pending.
    ///
    /// - Parameters:
    ///   - deadline: the deadline that fired. If the sender has sent bytes since it was armed, the frame's own deadline is armed
    ///     instead, so that frames end in the order of their deadlines.
    ///   - time: the end of the silence.
    func pause(of direction: Direction, at deadline: Timestamp, until time: Timestamp) {
        awaitsPause[direction] = false
        if let side = sides[direction], let due = side.framer.idleDeadline, due <= deadline {
            side.pause(until: time)
        }
        expectPause(of: direction)
    }

    /// Pauses that were over before a held event have ended frames by then.
    private func passPauses(before time: Timestamp) {
        while let next = Direction.allCases.compactMap({ direction in
            sides[direction]?.framer.idleDeadline.map { (deadline: $0, direction: direction) }
        }).min(by: { $0.deadline < $1.deadline }), next.deadline < time {
            pause(of: next.direction, at: next.deadline, until: time)
        }
    }

    private func finish(_ direction: Direction, at time: Timestamp) {
        decide(direction)
        sides[direction]?.finish()
        output.analyse { $0.finished(direction, at: time, on: connection, into: &$1) }
    }

    // MARK: Formats

    private func start(_ plan: FormatPlan, _ choice: FormatChoice) {
        connection.recognise(plan.known, choice)
        // A stream picked up mid-stream has already begun.
        connection.hasBegun = plan.known.format.beginning == nil || !connection.opening.handshake
        self.plan = plan
        conversation =
            plan.hasConversation
            ? Conversation(plan.known.format, aligned: connection.opening.handshake) : nil
        if resources.keys != nil, !isIntercepted { upgrade = plan.known.format.upgrade.map { TLSUpgradeWatch($0) } }
        begin()
    }

    /// Gives up on detecting the format after a long silence: the same whether the source reports it then or never.
    private func awaitFormat(at time: Timestamp) {
        let limit = resources.options.idleTimeout
        if limit.nanoseconds > 0, let lastTime = detection?.lastTime, limit < time - lastTime {
            giveUpDetection()
        }
        if let detection { detection.lastTime = max(time, detection.lastTime ?? time) }
    }

    /// Falls back to the port if the bytes were inconclusive, and otherwise leaves every byte unframed.
    func giveUpDetection() {
        if let (format, choice) = detection?.conclude() {
            start(resources.plans.plan(for: format), choice)
            return
        }
        let port = connection.opening.server.port
        if let plan = resources.plans.plan(forUsualPort: port) {
            start(plan, FormatChoice(by: .port, evidence: "server port \(port)"))
            return
        }
        let detail = "no known format in \(detection?.extent ?? "the stream")"
        notDetected = SharedRule.of(Unrecognised(detail: detail))
        begin()
    }

    /// Starts framing, with the bytes held until now.
    private func begin() {
        isFraming = true
        output.recognised(connection)
        let held = detection?.held ?? HeldEvents()
        if let detection {
            detection.end()
            resources.endDetection()
        }
        detection = nil
        for event in held.events {
            // This connection's deadlines pass between the held events, as if its format had been known: `take` sees to the others.
            passPauses(before: event.time)
            switch event.kind {
            case .received:
                let chunk = held.bytes.span.bytes.extracting(event.place..<event.place + event.count)
                if isUpgraded, let filter {
                    filter.received(chunk, from: event.direction, at: event.time, packet: event.packet)
                } else {
                    take(chunk, from: event.direction, at: event.time, packet: event.packet)
                }
            case .missing:
                if isUpgraded, let filter {
                    filter.missing(event.count, from: event.direction, at: event.time)
                } else {
                    miss(event.count, from: event.direction, at: event.time)
                }
            case .finished:
                if isUpgraded, let filter {
                    filter.finished(event.ending, from: event.direction, at: event.time)
                } else {
                    finish(event.direction, at: event.time)
                }
            case .noticed:
                let packet = NoticedPacket(from: event.direction, time: event.time, number: event.packet)
                report(held.content.notices[event.place], packet)
            case .opened, .closed, .advanced, .learned: continue
            }
        }
        if let memory = filter?.heldMemory, memory > 0 {
            resources.budget.update(&account, of: self, to: memory)
        } else {
            resources.budget.close(&account)
        }
    }
}

extension ConnectionDecoder: MemoryHolder {
    var accountedMemory: Int { account.held }

    var memoryRank: (connection: ConnectionLeg, part: Int) { (connection.connectionLeg, 0) }

    /// Gives up on what holds more: TLS, or the search for the format, which is decided from the bytes seen so far.
    func evict(at time: Timestamp) {
        let (handshake, searched) = (filter?.heldMemory ?? 0, detection?.memory ?? 0)
        if let filter, handshake > 0, handshake >= searched {
            filter.giveUp()
            hold(at: time)
            output.report(.evictedHandshake(handshake), of: .fromClient, on: connection, at: time)
        } else if !isFraming {
            giveUpDetection()
            output.report(.evictedDetection(searched), of: .fromClient, on: connection, at: time)
        }
    }
}
