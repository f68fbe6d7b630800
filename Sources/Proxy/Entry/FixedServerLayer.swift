import NIOCore

/// Connects every client to the same server.
struct FixedServerLayer: EntryLayer {
    let server: Place
    var needsBytes: Bool { false }

    func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch event {
        case .began: [.connect(server)]
        case .connected: [.done]
        case .unreachable(let place, let failure): [.close(EntryFault(place, failure), isOrderly: false)]
        default: []
        }
    }
}

extension EntryFault {
    /// Why a server cannot be reached.
    init(_ place: Place, _ failure: ConnectFailure) { self.init("cannot reach \(place): \(failure.cause)") }
}
