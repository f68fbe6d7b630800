import Streams

/// Connections whose receivers are dormant, since nothing happens in them.
extension TCPReassembler: ReceiverTable {
    /// Something happens to a connection: its receiver is no longer dormant.
    mutating func visit(_ index: Int) {
        shared.current = index
        guard table.flows[index].state == .dormant else { return }
        table.flows[index].state = .open
        if !shared.isEnding { watch(index) }
    }

    package func awakeConnection(at place: Int) -> AwakePlaces.Entry? {
        guard table.flows[place].state == .open else { return nil }
        return AwakePlaces.Entry(place, number: table.flows[place].number, segments: table.flows[place].packets)
    }

    package mutating func rest(at place: Int) -> Bool {
        // The one that something happens to right now is not at rest.
        guard place != shared.current, let dormant = table.flows[place].receiver?.dormant() else { return false }
        table.flows[place].receiver = dormant
        table.flows[place].state = .dormant
        return true
    }
}
