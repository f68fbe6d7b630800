import NIOCore
import Streams

/// Connects every client to the same server.
struct FixedServerLayer: EntryLayer {
    let server: Place
    var needsBytes: Bool { false }

    func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch event {
        case .began: [.connect(server)]
        case .connected: [.done]
        case .unreachable(let place, let failure): [.close(EntryFault(place, failure), isOrderly: false)]
        case .bytes, .ended, .destination: []
        }
    }
}

/// Connects a client to its original destination, before the system redirected it here.
struct TransparentLayer: EntryLayer {
    var needsBytes: Bool { false }

    func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction] {
        switch event {
        case .began: return [.findDestination]
        case .destination(.success(let address)):
            connection.reached = Endpoint(address)
            let place = Place.tcp(HostPort(host: address.ipAddress ?? "", port: address.port ?? 0))
            return [.connect(place, address: address)]
        case .destination(.failure(let fault)): return [.close(fault, isOrderly: false)]
        case .connected: return [.done]
        case .unreachable(let place, let failure): return [.close(EntryFault(place, failure), isOrderly: false)]
        case .bytes, .ended: return []
        }
    }
}

extension EntryFault {
    /// Why a server cannot be reached.
    init(_ place: Place, _ failure: ConnectFailure) { self.init("cannot reach \(place): \(failure.cause)") }
}
