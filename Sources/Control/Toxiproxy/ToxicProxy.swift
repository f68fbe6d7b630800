import Framing
import Interception
import Proxy
import Streams
import Synchronization

/// A proxy that toxiproxy's API has made: a listener with a name, and its toxics.
final class ToxicProxy: Sendable {
    private struct State {
        var listen: HostPort
        var upstream: HostPort
        /// Where it was asked to listen; `listen` has the address and the port that it got.
        var requested: HostPort
        var toxics: [Toxic] = []
        var listener: ManagedListener?
        /// Whether it is to be enabled: opening a listener takes time.
        var wantsEnabled = false
    }

    let name: String
    private let server: ProxyServer
    private let seed: UInt64
    private let limits: StageChain.Limits
    private let state: Mutex<State>

    init(
        _ name: String, listen: HostPort, upstream: HostPort, of server: ProxyServer, seed: UInt64,
        limits: StageChain.Limits
    ) {
        (self.name, self.server, self.seed, self.limits) = (name, server, seed, limits)
        state = Mutex(State(listen: listen, upstream: upstream, requested: listen))
    }

    /// As the API shows it.
    var json: JSONValue {
        state.withLock { state in
            .object([
                .init("name", .text(name)), .init("listen", .text("\(state.listen)")),
                .init("upstream", .text("\(state.upstream)")), .init("enabled", .boolean(state.listener != nil)),
                .init("toxics", .array(state.toxics.map(\.json))),
            ])
        }
    }

    var toxics: [Toxic] { state.withLock { $0.toxics } }
    var isEnabled: Bool { state.withLock { $0.listener != nil } }

    /// Whether it leads from and to these addresses.
    func leads(from listen: HostPort, to upstream: HostPort) -> Bool {
        state.withLock { ($0.listen == listen || $0.requested == listen) && $0.upstream == upstream }
    }

    /// Starts to listen.
    func enable() async throws {
        let isNew = state.withLock { state in
            defer { state.wantsEnabled = true }
            return !state.wantsEnabled
        }
        guard isNew else { return }
        let (listen, upstream) = state.withLock { ($0.listen, $0.upstream) }
        do { try await open(listen, upstream) } catch {
            state.withLock { $0.wantsEnabled = false }
            throw error
        }
    }

    private func open(_ listen: HostPort, _ upstream: HostPort) async throws {
        let listener = try await server.open(listen, to: upstream) { [weak self] connection in
            guard let self else { return nil }
            return StageChain(
                [LinkStage(rules(of: connection), seed: seed, connection: connection)], limits: limits)
        }
        listener.setLatest { [weak self] connection in self.map { .setLine($0.rules(of: connection)) } }
        let isWanted = state.withLock { state in
            // The port stays its own when it is disabled.
            state.listen = listener.place
            if state.wantsEnabled { state.listener = listener }
            return state.wantsEnabled
        }
        if !isWanted { try await listener.close() }
    }

    /// Stops listening, and closes its connections.
    func disable() async throws {
        let listener = state.withLock { state in
            defer { (state.listener, state.wantsEnabled) = (nil, false) }
            return state.listener
        }
        try await listener?.close()
    }

    /// Changes its addresses, while it is disabled.
    func move(listen: HostPort, upstream: HostPort) {
        state.withLock { ($0.listen, $0.upstream, $0.requested) = (listen, upstream, listen) }
    }

    /// Changes its toxics, on open connections too.
    ///
    /// - Returns: what waits until these have them; nil if it does not listen.
    func change(
        _ change: (inout [Toxic]) throws(HTTPFault) -> Void
    ) throws(HTTPFault) -> ManagedListener.Delivery? {
        let (_, listener) = try state.withLock { state throws(HTTPFault) in
            (try change(&state.toxics), state.listener)
        }
        return listener?.send { .setLine(rules(of: $0)) }
    }

    /// The toxics that apply to a connection.
    private func rules(of connection: Int) -> [LineRule] {
        toxics.filter { toxic in
            guard toxic.toxicity < 1 else { return true }
            // FNV-1a: the same toxic decides the same each time.
            let number = toxic.name.utf8.reduce(UInt32(0x811c_9dc5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
            var chance = Chance(seed: seed, rule: Int(number), connection: connection, direction: toxic.direction)
            return chance.happens(toxic.toxicity)
        }.map(\.rule)
    }
}
