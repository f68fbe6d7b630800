import NIOCore

/// Negotiates with a SOCKS client which server it wants, connects to that server, and replies.
struct SOCKSLayer: EntryLayer {
    private var negotiation = SOCKSNegotiation()

    var needsBytes: Bool { !negotiation.isOver }

    mutating func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch event {
        case .bytes: return negotiation.take(&connection.unread)
        case .ended:
            guard needsBytes else { return [] }
            return [.close(EntryFault("the client was gone before it said which server it wants"), isOrderly: true)]
        case .connected(let bound): return [.sendToClient(SOCKSReply.succeeded.bytes(bound: bound)), .done]
        case .unreachable(let place, let failure):
            return [.sendToClient(failure.reply.bytes()), .close(EntryFault(place, failure), isOrderly: true)]
        default: return []
        }
    }
}

extension ServerChoice {
    /// The client names its server (RFC 1928).
    package static let socks5 = ServerChoice(
        scheme: "socks5", title: "SOCKS 5", use: "clients name their server themselves",
        reach: "whatever this machine can reach", layer: { SOCKSLayer() })
}
