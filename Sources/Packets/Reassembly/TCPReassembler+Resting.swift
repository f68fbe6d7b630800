import Streams

/// Connections that are packed, since nothing happens in them.
extension TCPReassembler: ConnectionTable {
    /// Something happens to a connection: it is not packed any more.
    ///
    /// - Returns: its place.
    mutating func visit(_ id: Int) -> Int {
        shared.current = id
        if let place = table.place(of: id) { return place }
        guard let place = table.unpack(id) else { preconditionFailure("a connection that is over") }
        if !shared.isEnding { watch(id) }
        return place
    }

    package func awakeConnection(_ id: Int) -> AwakeConnections.Entry? {
        guard let place = table.place(of: id), table.flows[place].state == .open else { return nil }
        return AwakeConnections.Entry(id, number: table.flows[place].number, segments: table.flows[place].packets)
    }

    package mutating func rest(_ id: Int) -> Bool {
        // The one that something happens to right now is not at rest.
        guard id != shared.current, table.pack(id, at: shared.now) else { return false }
        forgetLast(id)
        return true
    }
}
