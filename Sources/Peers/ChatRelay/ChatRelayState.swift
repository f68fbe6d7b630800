import Streams

/// The chat relay's server as a state machine: events go in with their times, actions come out.
///
/// It learns from every frame which client is on a connection, relays by ID, and evicts silent clients.
package struct ChatRelayState: ServerState {
    private struct Connection {
        var id: String?
        var lastFrame: Timestamp
    }

    /// A connection without a complete frame for longer than this is evicted at the next sweep.
    let silence: Interval
    private let sweepInterval: Interval
    private var store: OfflineStore?
    private var connections: [Int: Connection] = [:]

    /// A relay without connections.
    ///
    /// - Parameters:
    ///   - silence: how long a connection may be silent: 20 s times the time scale.
    ///   - sweepInterval: the interval of the sweeps: 30 s times the time scale.
    package init(silence: Interval, sweepInterval: Interval = .seconds(30), storeOffline: Bool) {
        self.init(silence: silence, sweepInterval: sweepInterval, store: storeOffline ? OfflineStore() : nil)
    }

    init(silence: Interval, sweepInterval: Interval = .seconds(30), store: OfflineStore?) {
        (self.silence, self.sweepInterval, self.store) = (silence, sweepInterval, store)
    }

    /// A connection was accepted. Its number is new.
    package mutating func opened(_ number: Int, by client: String, at time: Timestamp) -> [ServerAction] {
        connections[number] = Connection(id: nil, lastFrame: time)
        return [.log("#\(number) connected from \(client)")]
    }

    /// A message arrived on a connection, or bytes that are not a message.
    package mutating func received(_ input: PeerInput, on number: Int, at time: Timestamp) -> [ServerAction] {
        guard connections[number] != nil else { return [] }
        switch input {
        case .unframed(let byteCount, let detail):
            // The stream resynchronises by itself; such bytes do not prove that their sender is alive.
            return [.log("#\(number) \(byteCount) B without frame: \(detail)")]
        case .message(let frame):
            let message = ChatMessage(frame, from: .fromClient)
            let learned = learn(message.sender, on: number, at: time)
            return message.isHeartbeat ? learned : learned + relay(message, from: number)
        }
    }

    package mutating func started(at time: Timestamp) -> [ServerAction] { [.wake("sweep", after: sweepInterval)] }

    package mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ServerAction] {
        sweep(at: time) + [.wake("sweep", after: sweepInterval)]
    }

    /// Time to sweep for silent clients.
    package mutating func sweep(at time: Timestamp) -> [ServerAction] {
        var actions: [ServerAction] = []
        for (number, connection) in connections.sorted(by: { $0.key < $1.key }) {
            let silent = time - connection.lastFrame
            guard silent > silence else { continue }
            connections[number] = nil
            actions.append(.log("\(name(number, connection)) evicted: silent for \(silent.inSeconds)"))
            actions.append(.close(connection: number))
        }
        return actions
    }

    /// A connection is over; `error` if it did not end cleanly.
    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [ServerAction] {
        guard let connection = connections.removeValue(forKey: number) else { return [] }
        return [.log("\(name(number, connection)) left" + (error.map { ": \($0)" } ?? ""))]
    }

    /// The client on a connection may change with every frame.
    private mutating func learn(_ id: String, on number: Int, at time: Timestamp) -> [ServerAction] {
        connections[number]?.lastFrame = time
        guard !id.isEmpty else { return [] }
        var actions: [ServerAction] = []
        if connections[number]?.id != id {
            connections[number]?.id = id
            actions.append(.log("#\(number) is \(printable(id))"))
        }
        for message in store?.take(for: id) ?? [] {
            actions.append(.log("#\(number) \(message), from the store"))
            actions.append(send(message, to: number))
        }
        return actions
    }

    private mutating func relay(_ message: ChatMessage, from number: Int) -> [ServerAction] {
        let said = "#\(number) \(message)"
        guard let target = message.target, !target.isEmpty else { return [.log("\(said), lost: it names no target")] }
        let targets = connections.filter { $0.value.id == target }.keys.sorted()
        if !targets.isEmpty {
            return [.log(said)] + targets.map { send(message, to: $0) }
        }
        guard store != nil else { return [.log("\(said), lost: nobody there")] }
        let kept = store?.keep(message, for: target) ?? false
        return [.log(said + (kept ? ", stored: nobody there" : ", lost: nobody there, and the store is full"))]
    }

    /// Sends a message with the server's form of the head, which does not name the target.
    private func send(_ message: ChatMessage, to number: Int) -> ServerAction {
        .send(.messages([message.frame(from: .fromServer)]), connection: number)
    }

    private func name(_ number: Int, _ connection: Connection) -> String {
        "#\(number)" + (connection.id.map { " (\(printable($0)))" } ?? "")
    }
}

extension Interval {
    /// In words, to a tenth of a second: `3.0 s`.
    var inSeconds: String { "\((seconds * 10).rounded() / 10) s" }
}
