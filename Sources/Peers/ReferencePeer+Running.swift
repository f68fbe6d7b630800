import Streams
import Systems

/// Runs a system's peers over TCP, on NIO's shared event loops. All three end early, cleanly, when their task is cancelled.
extension ReferencePeer {
    /// Serves until the task is cancelled, then closes its connections and returns.
    ///
    /// - Parameters:
    ///   - address: the address to listen on; port 0 takes a free one. SO_REUSEADDR is set.
    ///   - bound: called once, with the bound address, before any connection is accepted.
    /// - Throws: `PeerError`, also if it cannot listen there.
    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        let setup = try PeerSetup(Self.self, options) { () throws(PeerError) in
            try UploadFolder(at: options.uploadFolder)
        }
        try await PeerRunner(server(setup), log: log).serve(at: address, bound: bound)
    }

    /// Runs the format's clients through their conversation.
    ///
    /// - Throws: `PeerError` if the server cannot be reached, or expected data did not arrive in time; `CancellationError` if the
    ///   task was cancelled, with the connections closed cleanly.
    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        let script = try conversation(PeerSetup(Self.self, options))
        try await ScriptRunner(script, server, log).run(rounds: options.rounds)
    }

    /// Runs the format's clients through their demonstration.
    ///
    /// - Throws: as `converse`.
    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        let script = try demonstration(PeerSetup(Self.self, options))
        try await ScriptRunner(script, server, log).run(rounds: 1)
    }
}

/// Takes clients through a script.
struct ScriptRunner<Client: PeerMachine> {
    private let script: PeerScript<Client>
    private let server: PeerAddress
    private let log: PeerLog
    private var running: [Int: PeerRunner<Client>] = [:]

    init(_ script: PeerScript<Client>, _ server: PeerAddress, _ log: @escaping PeerLog) {
        (self.script, self.server, self.log) = (script, server, log)
    }

    /// All steps; then, or after an error, all clients disconnect.
    consuming func run(rounds: Int) async throws {
        var result = Result<Void, any Error>.success(())
        do {
            for step in script.opening { try await perform(step) }
            for round in 0..<rounds { for step in script.round(round) { try await perform(step) } }
            for step in script.closing { try await perform(step) }
        } catch {
            result = .failure(Task.isCancelled ? CancellationError() : error)
        }
        // A process that exits with bytes unread would reset its connections.
        for (_, client) in running.sorted(by: { $0.key < $1.key }) { try await client.end() }
        try result.get()
    }

    private var options: PeerOptions { script.clients.first?.setup.options ?? PeerOptions() }

    private mutating func perform(_ step: PeerScript<Client>.Step) async throws {
        try Task.checkCancellation()
        switch step {
        case .connect(let index):
            let client = PeerRunner(script.clients[index], of: server, noDelay: script.decidesSegments, log: log)
            running[index] = client
            try await client.connect()
        case .disconnect(let index): try await running.removeValue(forKey: index)?.end()
        case .wait(let seconds, let least):
            let wait = max(options.scaled(.seconds(seconds)), least)
            try await Task.sleep(for: .nanoseconds(wait.nanoseconds))
        case .tell(let index, let change): try await running[index]?.tell(change)
        case .until(let index, let what, let seconds, let holds):
            let limit = seconds.map { options.limit($0) } ?? .seconds(0)
            try await running[index]?.wait(for: what, within: limit) { client, _ in holds(client) }
        }
    }
}
