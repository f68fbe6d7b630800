import NIOCore
import Streams

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
        default: return []
        }
    }
}

extension ServerChoice {
    /// The server is the one that the client meant to connect to before the system redirected it here (Linux).
    package static let transparent = ServerChoice(
        scheme: "transparent", title: "transparent", use: "clients arrive that a firewall redirects (Linux)",
        reach: "whatever a firewall redirects here", layer: { TransparentLayer() })
}
