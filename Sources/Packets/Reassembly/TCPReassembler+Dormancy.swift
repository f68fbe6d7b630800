import Streams

/// Connections whose receivers are dormant, since nothing happens in them.
extension TCPReassembler {
    /// Something happens to a connection: its receiver is no longer dormant.
    mutating func visit(_ index: Int) {
        shared.current = index
        guard table.flows[index].state == .dormant else { return }
        table.flows[index].state = .open
        if !shared.isEnding { watch(index) }
    }

    /// Keeps a connection's receiver ready, and looks at those that have been ready for longest.
    mutating func watch(_ index: Int) {
        awake.add(entry(of: index))
        let oldest = awake.takeOldest()
        if let first = oldest.0 { rest(first) }
        if let second = oldest.1 { rest(second) }
    }

    private func entry(of index: Int) -> AwakePlaces.Entry {
        AwakePlaces.Entry(index, number: table.flows[index].number, events: table.flows[index].packets)
    }

    private mutating func rest(_ entry: AwakePlaces.Entry) {
        let index = entry.place
        // Its place may belong to another by now.
        guard entry.isOf(table.flows[index].number), table.flows[index].state == .open else { return }
        // The one that something happens to right now is not at rest, either.
        guard index != shared.current, table.flows[index].packets == entry.events,
            let dormant = table.flows[index].receiver?.dormant()
        else { return awake.add(self.entry(of: index)) }
        table.flows[index].receiver = dormant
        table.flows[index].state = .dormant
    }
}
