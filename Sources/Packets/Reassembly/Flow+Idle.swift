import Streams

/// Idle connections.
extension Flow {
    /// Marks the connection idle: nothing is waited for any more, and only its number, its stream positions and the ranges
    /// declared missing are kept. If it was not silence but the clock that was set, their bytes arrive late.
    mutating func becomeIdle(_ shared: inout ReassemblyState) {
        for direction in Direction.allCases where state == .open { flush(direction, &shared) }
        guard state == .open else { return }
        if !isIdle { shared.idleCount += 1 }
        isIdle = true
        shared.forgetHistory()
        receiver?.noticed(.idle, from: .fromClient, at: quietAt, packet: 0)
    }

    /// A packet arrives after a silence long enough for the connection to be idle, whether it was marked so or not.
    mutating func speakAgain(_ shared: inout ReassemblyState) {
        guard state == .open else { return }
        if isIdle {
            shared.note(\.quiet, after: shared.quietInterval, number: number)
        } else {
            becomeIdle(&shared)
        }
        if isIdle { shared.idleCount -= 1 }
        isIdle = false
    }
}

extension ReassemblyState {
    /// How long a silence may last: without a timeout for 146 years, so that the time at which it would end still says which
    /// connection was active later.
    var quietInterval: Interval {
        options.idleTimeout.nanoseconds > 0 ? options.idleTimeout : Interval(nanoseconds: .max / 2)
    }
}

extension TCPReassembler {
    /// Marks connections idle that have been silent for too long, and closes the oldest if there are too many.
    mutating func markIdle() {
        // At the end of time nothing is due: what is noted for later would be due again at once.
        let due = min(shared.now, Timestamp(nanoseconds: .max - 1))
        while let entry = shared.quiet.popFirst(until: due) {
            guard let flow = openFlow(entry) else { continue }
            guard shared.now > flow.quietAt else {
                shared.current = entry.flow
                shared.note(\.quiet, after: shared.quietInterval, number: flow.number)
                continue
            }
            let place = visit(entry.flow)
            table.flows[place].becomeIdle(&shared)
            guard table.flows[place].state == .open else { continue }
            // Its time identifies the silence it represents: the connection may resume and fall silent again.
            shared.idle.append(DeadlineQueue.Entry(time: flow.quietAt, flow: entry.flow, number: flow.number))
        }
        while shared.idleCount > shared.options.idleLimit, shared.idle.count > 0 { closeFirstIdle() }
        dropStale()
    }

    /// Drops entries of connections that resumed or are over, once there are many.
    private mutating func dropStale() {
        guard shared.idle.count > 2 * shared.idleCount + 4096 else { return }
        shared.idle.keep { [table] in Self.isIdle($0, in: table) }
    }

    private static func isIdle(_ entry: DeadlineQueue.Entry, in table: FlowTable) -> Bool {
        guard let flow = openFlow(entry, in: table) else { return false }
        return flow.isIdle && flow.quietAt == entry.time
    }

    /// Makes room for another connection if there are too many.
    mutating func makeRoom() {
        // Entries of connections closed since then are stale.
        if shared.quiet.count > 2 * shared.openCount + 4096 {
            shared.quiet.keep { [table] in Self.openFlow($0, in: table) != nil }
        }
        // Time may stand still, and with it what is forgotten when it advances.
        if shared.closed.count > shared.options.closedLimit { forgetClosed() }
        if shared.openCount >= shared.options.connectionLimit { evict() }
    }

    private mutating func evict() {
        // Connections active since they were last checked get another chance; not all of them, to bound the time spent.
        var chances = 16
        shared.reachedLimit = true
        while shared.openCount >= shared.options.connectionLimit {
            if shared.idle.count > 0 {
                closeFirstIdle()
                continue
            }
            guard let entry = shared.quiet.popFirst(until: .distantFuture) else { return }
            guard let flow = openFlow(entry) else { continue }
            if chances > 0, flow.quietAt > entry.time {
                chances -= 1
                shared.current = entry.flow
                shared.note(\.quiet, after: shared.quietInterval, number: flow.number)
            } else {
                abandon(entry.flow, .evicted, at: shared.now)
            }
        }
    }

    /// Closes the connection that has been idle longest, unless it resumed.
    private mutating func closeFirstIdle() {
        guard let entry = shared.idle.popFirst(until: .distantFuture), Self.isIdle(entry, in: table) else { return }
        shared.reachedLimit = true
        abandon(entry.flow, .timeout, at: entry.time)
    }

    /// The connection of an entry, if it is still open.
    private func openFlow(_ entry: DeadlineQueue.Entry) -> Flow? { Self.openFlow(entry, in: table) }

    private static func openFlow(_ entry: DeadlineQueue.Entry, in table: FlowTable) -> Flow? {
        guard let flow = table.flow(entry.flow), entry.hasNumber(flow.number), flow.state == .open else { return nil }
        return flow
    }

    /// Closes a connection permanently: if it resumes, it is a new one.
    private mutating func abandon(_ id: Int, _ reason: CloseReason, at time: Timestamp) {
        let place = visit(id)
        // One closed by its FINs is remembered like any other.
        guard table.flows[place].abandon(reason, at: time, &shared) else { return }
        forgetLast(id)
        table.remove(id)
    }
}
