import Streams

/// The chat relay's server: it learns from every frame which client is on a connection, relays by ID, and evicts silent clients.
package struct ChatServer: PeerMachine {
    private struct Client {
        var id: String?
        var lastFrame: Timestamp
    }

    package let setup: PeerSetup
    private var store: OfflineStore?
    private var clients: [Int: Client] = [:]

    /// A relay without connections. It sweeps every 30 s for clients without a complete frame for more than 20 s, scaled.
    package init(_ setup: PeerSetup) { self.init(setup, store: setup.options.storeOffline ? OfflineStore() : nil) }

    init(_ setup: PeerSetup, store: OfflineStore?) { (self.setup, self.store) = (setup, store) }

    private var nextSweep: PeerAction { .wake("sweep", after: setup.options.scaled(.seconds(30))) }

    package func label(_ number: Int) -> String? { clients[number]?.id }

    package mutating func started(at now: Timestamp) -> [PeerAction] { [nextSweep] }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        clients[number] = Client(lastFrame: now)
        return []
    }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        let message = ChatMessage(frame, from: .fromClient)
        let learned = learn(message.sender, on: number, at: now)
        return message.isHeartbeat ? learned : learned + relay(message, from: number)
    }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        var actions: [PeerAction] = []
        for (number, client) in clients.sorted(by: { $0.key < $1.key }) {
            let silent = now - client.lastFrame
            guard silent > setup.options.tolerated(.seconds(20)) else { continue }
            actions += [
                .log("\(who(number)) evicted: silent for \(silent.inSeconds)"), .close(connection: number),
            ]
            clients[number] = nil
        }
        return actions + [nextSweep]
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        clients[number] = nil
        return []
    }

    /// The client on a connection may change with every frame.
    private mutating func learn(_ id: String, on number: Int, at now: Timestamp) -> [PeerAction] {
        clients[number]?.lastFrame = now
        guard !id.isEmpty else { return [] }
        let isNew = clients[number]?.id != id
        clients[number]?.id = id
        let stored = store?.take(for: id) ?? []
        return (isNew ? [.log("#\(number) is \(printable(id))")] : [])
            + stored.flatMap { [.log("#\(number) \($0), from the store"), send($0, to: number)] }
    }

    private mutating func relay(_ message: ChatMessage, from number: Int) -> [PeerAction] {
        let said = "#\(number) \(message)"
        guard let target = message.target, !target.isEmpty else { return [.log("\(said), lost: it names no target")] }
        let targets = clients.filter { $0.value.id == target }.keys.sorted()
        if !targets.isEmpty { return [.log(said)] + targets.map { send(message, to: $0) } }
        switch store?.keep(message, for: target) {
        case nil: return [.log("\(said), lost: nobody there")]
        case true?: return [.log("\(said), stored: nobody there")]
        case false?: return [.log("\(said), lost: nobody there, and the store is full")]
        }
    }

    /// Sends a message with the server's form of the head, which does not name the target.
    private func send(_ message: ChatMessage, to number: Int) -> PeerAction {
        .send(.messages([message.frame(from: .fromServer)]), connection: number)
    }
}
