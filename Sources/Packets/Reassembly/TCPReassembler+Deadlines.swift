import Streams

extension TCPReassembler {
    /// Drops the deadlines of what no longer waits. Those that are due drop out by themselves; but time may stand still.
    @inline(never)
    mutating func dropStaleDeadlines() {
        shared.hasStaleDeadlines = false
        shared.gaps.keep(needed(isGap: true))
        shared.pickups.keep(needed(isGap: true))
        shared.resets.keep(needed(isGap: false))
    }

    /// Whether a deadline is still needed: asked for those of a queue, in order.
    private func needed(isGap: Bool) -> (DeadlineQueue.Entry) -> Bool {
        // Several of one connection may be due at the same time.
        var known: Set<Int> = []
        var time: Timestamp?
        return { [table, shared] entry in
            guard let flow = table.flow(entry.flow), entry.hasNumber(flow.number), flow.state == .open else {
                return false
            }
            guard isGap else { return flow.awaitsReset }
            let waits = Direction.allCases.contains { shared.held(flow.sides[$0])?.grace?.deadline == entry.time }
            if time != entry.time { (time, known) = (entry.time, []) }
            return waits && known.insert(entry.flow).inserted
        }
    }
}
