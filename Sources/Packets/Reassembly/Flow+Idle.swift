import Streams

/// Connections on which nothing is said for long.
extension Flow {
    /// Lets the connection go: nothing is waited for any more, and only number and places are kept.
    mutating func letGo(_ shared: inout ReassemblyState) {
        for direction in Direction.allCases where state == .open { flush(direction, &shared) }
        guard state == .open else { return }
        if !isIdle { shared.idleCount += 1 }
        isIdle = true
        shared.forgetHistory()
        shared.forgetLost()
        receiver?.noticed(.idle, from: .fromClient, at: quietAt, packet: 0)
    }

    /// A packet comes after a silence that was long enough to let the connection go, whether that was done yet or not.
    mutating func speakAgain(_ shared: inout ReassemblyState) {
        guard state == .open else { return }
        if isIdle {
            shared.note(\.quiet, after: shared.quietInterval, number: number)
        } else {
            letGo(&shared)
        }
        if isIdle { shared.idleCount -= 1 }
        isIdle = false
    }
}

extension ReassemblyState {
    /// How long a silence may be.
    var quietInterval: Interval {
        options.idleTimeout.nanoseconds > 0 ? options.idleTimeout : Interval(nanoseconds: .max)
    }
}

extension TCPReassembler {
    /// Lets go of connections that have been silent for too long, and closes the first of too many.
    mutating func markIdle() {
        while let entry = shared.quiet.popFirst(until: shared.now) {
            guard isOpen(entry) else { continue }
            shared.current = entry.flow
            if shared.now > table.flows[entry.flow].quietAt {
                table.flows[entry.flow].letGo(&shared)
                if table.flows[entry.flow].state == .open {
                    // Its time says which silence it stands for: the connection may speak again, and be silent again.
                    shared.idle.append(
                        DeadlineQueue.Entry(
                            time: table.flows[entry.flow].quietAt, flow: entry.flow,
                            number: table.flows[entry.flow].number))
                }
            } else {
                shared.note(\.quiet, after: shared.quietInterval, number: table.flows[entry.flow].number)
            }
        }
        while shared.idleCount > shared.options.idleLimit, shared.idle.count > 0 { closeFirstIdle() }
        dropStale()
    }

    /// Drops entries of connections that spoke again, or are over, once they are many.
    private mutating func dropStale() {
        guard shared.idle.count > 2 * shared.idleCount + 4096 else { return }
        shared.idle.keep { [table] in Self.isIdle($0, in: table) }
    }

    private static func isIdle(_ entry: DeadlineQueue.Entry, in table: FlowTable) -> Bool {
        let flow = table.flows[entry.flow]
        return entry.isOf(flow.number) && flow.state == .open && flow.isIdle && flow.quietAt == entry.time
    }

    /// Makes room for another connection, where there are too many.
    mutating func makeRoom() {
        // Entries of connections that are closed since then are as good as none.
        if shared.quiet.count > 2 * shared.openCount + 4096 {
            shared.quiet.keep { [table] entry in
                entry.isOf(table.flows[entry.flow].number) && table.flows[entry.flow].state == .open
            }
        }
        if shared.openCount >= shared.options.connectionLimit { evict() }
    }

    private mutating func evict() {
        // Those that spoke since they were looked at last get another chance; not all of them, for the sake of time.
        var chances = 16
        shared.reachedLimit = true
        while shared.openCount >= shared.options.connectionLimit {
            if shared.idle.count > 0 {
                closeFirstIdle()
                continue
            }
            guard let entry = shared.quiet.popFirst(until: .distantFuture) else { return }
            guard isOpen(entry) else { continue }
            shared.current = entry.flow
            if chances > 0, table.flows[entry.flow].quietAt > entry.time {
                chances -= 1
                shared.note(\.quiet, after: shared.quietInterval, number: table.flows[entry.flow].number)
            } else {
                abandon(entry.flow, .evicted, at: shared.now)
            }
        }
    }

    /// Closes the connection that was let go first, unless it spoke again.
    private mutating func closeFirstIdle() {
        guard let entry = shared.idle.popFirst(until: .distantFuture), Self.isIdle(entry, in: table) else { return }
        shared.reachedLimit = true
        abandon(entry.flow, .timeout, at: table.flows[entry.flow].quietAt)
    }

    private func isOpen(_ entry: DeadlineQueue.Entry) -> Bool {
        entry.isOf(table.flows[entry.flow].number) && table.flows[entry.flow].state == .open
    }

    /// Closes a connection for good: if it speaks again, it is another.
    private mutating func abandon(_ index: Int, _ reason: CloseReason, at time: Timestamp) {
        shared.current = index
        // What its FINs closed is remembered as any other that was.
        guard table.flows[index].abandon(reason, at: time, &shared) else { return }
        forgetLast(index)
        table.remove(index)
    }
}
