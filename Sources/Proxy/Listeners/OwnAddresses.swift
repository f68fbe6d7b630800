import NIOCore
import Streams
import Synchronization

/// The proxy's own addresses: no client may be connected to them.
///
/// A client of a SOCKS listener may name one of the proxy's own addresses, and a firewall rule that redirects outgoing
/// connections of this machine redirects the proxy's own, too. Either would make the proxy its own client, in an endless loop.
final class OwnAddresses: Sendable {
    private struct State {
        var listeners: [Endpoint] = []
        var paths: Set<String> = []
        /// The proxy's ends of connections to servers, and those servers. Connections to different servers may share an end.
        var outgoing: [Endpoint: Set<Endpoint>] = [:]
        /// The connections that are being begun: their ends are not known yet.
        var beginning: Set<Int> = []
        var lastBegun = 0
        /// Who waits until the ends of some of them are known.
        var waiting: [(until: Set<Int>, resume: @Sendable () -> Void)] = []
    }

    private let state = Mutex(State())
    private let machine: @Sendable () -> [IPAddress]

    /// - Parameter machine: the addresses of this machine.
    init(machine: @escaping @Sendable () -> [IPAddress] = OwnAddresses.devices) {
        self.machine = machine
    }

    /// The addresses of the interfaces of this machine.
    static func devices() -> [IPAddress] {
        ((try? System.enumerateDevices()) ?? []).compactMap { device in
            device.address.map { Endpoint($0).unmapped.address }
        }
    }

    /// The proxy listens at an address.
    func listens(at address: SocketAddress) {
        state.withLock { state in
            if case .unixDomainSocket = address {
                if let path = address.pathname { state.paths.insert(path) }
            } else {
                state.listeners.append(Endpoint(address).unmapped)
            }
        }
    }

    /// The proxy no longer listens at an address.
    func stopsListening(at address: SocketAddress) {
        let end = Endpoint(address).unmapped
        state.withLock { state in
            if let place = state.listeners.firstIndex(of: end) { state.listeners.remove(at: place) }
        }
    }

    /// Whether connecting to a Unix socket leads to this proxy.
    func containsPath(_ path: String) -> Bool { state.withLock { $0.paths.contains(path) } }

    /// Whether connecting to an address leads to this proxy.
    func contains(_ address: SocketAddress) -> Bool { contains(Endpoint(address)) }

    /// Whether connecting to an endpoint leads to this proxy.
    func contains(_ endpoint: Endpoint) -> Bool {
        let target = endpoint.unmapped
        let candidates = state.withLock { $0.listeners.filter { $0.port == target.port } }
        return candidates.contains { listener in
            if listener.address == target.address { return true }
            let isLocal = target.address.isUnspecified || target.address.isLoopback
            // Connecting to the unspecified address leads to this machine, by whichever loopback address.
            if target.address.isUnspecified { return listener.address.isUnspecified || listener.address.isLoopback }
            return listener.address.isUnspecified && (isLocal || machine().contains(target.address))
        }
    }

    // MARK: Connections that a firewall redirected back

    /// Whether a client has the address of one of the proxy's own ends. It need not be the proxy: two connections may share one
    /// end if the other end differs.
    func hasEnd(_ client: Endpoint) -> Bool { state.withLock { $0.outgoing[client.unmapped] != nil } }

    /// Whether a client that meant to connect to a server is this proxy itself.
    func hasConnection(from client: Endpoint, to server: Endpoint) -> Bool {
        state.withLock { $0.outgoing[client.unmapped]?.contains(server.unmapped) == true }
    }

    /// The proxy is about to connect to a server, on one of its threads; returns the handle for `begun`.
    func begins() -> Int {
        state.withLock { state in
            state.lastBegun += 1
            state.beginning.insert(state.lastBegun)
            return state.lastBegun
        }
    }

    /// The end of a connection is known, or there is none.
    func begun(_ handle: Int) {
        let ready = state.withLock { state in
            state.beginning.remove(handle)
            for index in state.waiting.indices { state.waiting[index].until.remove(handle) }
            let ready = state.waiting.filter(\.until.isEmpty)
            if !ready.isEmpty { state.waiting.removeAll(where: \.until.isEmpty) }
            return ready
        }
        for each in ready { each.resume() }
    }

    /// Calls back, on any thread, once the ends of all connections that are being begun are known: a client that just arrived may be one.
    func whenBegun(_ resume: @escaping @Sendable () -> Void) {
        let mustWait = state.withLock { state in
            guard !state.beginning.isEmpty else { return false }
            state.waiting.append((state.beginning, resume))
            return true
        }
        if !mustWait { resume() }
    }

    /// Whether connections are being begun.
    var isBeginning: Bool { state.withLock { !$0.beginning.isEmpty } }

    /// The proxy begins to connect to a server. The connection may arrive as a client before the proxy is notified that it is
    /// connected.
    func connecting(from local: Endpoint, to server: Endpoint) {
        _ = state.withLock { $0.outgoing[local.unmapped, default: []].insert(server.unmapped) }
    }

    /// A connection to a server is over.
    func disconnected(from local: Endpoint, to server: Endpoint) {
        state.withLock { state in
            state.outgoing[local.unmapped]?.remove(server.unmapped)
            if state.outgoing[local.unmapped]?.isEmpty == true { state.outgoing[local.unmapped] = nil }
        }
    }
}
