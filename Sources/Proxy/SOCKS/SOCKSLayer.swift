import NIOCore

/// Negotiates with a SOCKS client up to which server it wants, connects to that, and answers.
struct SOCKSLayer: EntryLayer {
    private var negotiation = SOCKSNegotiation()

    var needsBytes: Bool { !negotiation.isOver }

    mutating func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch event {
        case .began, .destination: return []
        case .bytes: return negotiation.take(&connection.unread)
        case .ended:
            guard needsBytes else { return [] }
            return [.close(EntryFault("the client was gone before it said which server it wants"), isOrderly: true)]
        case .connected(let bound): return [.sendToClient(SOCKSReply.succeeded.bytes(bound: bound)), .done]
        case .unreachable(let place, let failure):
            return [.sendToClient(failure.reply.bytes()), .close(EntryFault(place, failure), isOrderly: true)]
        }
    }
}
