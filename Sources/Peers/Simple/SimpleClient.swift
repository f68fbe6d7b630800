import NIOCore
import NIOPosix
import Streams

/// A client that a script drives: a machine that has a connection to a server.
struct SimpleClient<Machine: PeerMachine>: Sendable {
    /// Its name in errors.
    let name: String
    private let runner: MachineRunner<Machine>
    private let options: PeerOptions

    /// A client that is not connected yet; its machine asks for a connection when it starts.
    init(
        _ name: String, _ machine: sending Machine, server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) {
        self.name = name
        self.options = options
        let noDelay = options.noDelay
        let connector: @Sendable (MachineRunner<Machine>) -> EventLoopFuture<Void> = { runner in
            ClientBootstrap(group: runner.loop)
                .channelOption(.tcpOption(.tcp_nodelay), value: noDelay ? 1 : 0)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(MachineHandler(runner))
                    }
                }
                .connect(host: server.host, port: server.port).map { _ in }
        }
        runner = MachineRunner(machine, log: log, connector: connector)
    }

    /// Connects clients in order, runs a script with them, and disconnects them in order, also when the task is cancelled.
    static func run(_ clients: SimpleClient..., script: () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do {
            try await withTaskCancellationHandler {
                for client in clients {
                    try await client.runner.start().get()
                    try await client.until("a connection", after: 0) { $1 }
                }
                try await script()
            } onCancel: {
                for client in clients { client.runner.end() }
            }
            result = .success(())
        } catch {
            result = .failure(Task.isCancelled ? CancellationError() : error)
        }
        // A process that exits with bytes unread would reset its connections.
        for client in clients { try await client.runner.end().get() }
        try result.get()
    }

    /// Gives the machine a task.
    func perform(_ change: @escaping @Sendable (inout Machine) -> [PeerAction<Machine.Alarm, Machine.Work>])
        async throws
    {
        try await runner.run(change).get()
    }

    /// The machine's state.
    func value<Value: Sendable>(_ value: @escaping @Sendable (Machine) -> Value) async throws -> Value {
        try await runner.value(value).get()
    }

    /// Sends parts, each as a write of its own, with pauses between them (in seconds, scaled, but long enough for the
    /// kernel not to merge them).
    func write(_ parts: [UInt8]..., pause: Double = 0.1) async throws {
        for (index, part) in parts.enumerated() {
            if index > 0 {
                let scaled = max(options.scaled(.seconds(pause)), .milliseconds(40))
                try await Task.sleep(for: .nanoseconds(scaled.nanoseconds))
            }
            do {
                try await runner.write(part).get()
            } catch let error as PeerError {
                throw PeerError("\(name): \(error)")
            }
        }
    }

    /// Waits until the machine is in a certain state.
    ///
    /// - Parameters:
    ///   - what: the awaited state, in words.
    ///   - seconds: how long that takes by the protocol, before scaling; 4 s more are allowed, and at least
    ///     `PeerOptions.leastWait`.
    func until(
        _ what: String, after seconds: Double = 0, _ condition: @escaping @Sendable (Machine) -> Bool
    ) async throws {
        try await until(what, after: seconds) { machine, _ in condition(machine) }
    }

    private func until(
        _ what: String, after seconds: Double, _ condition: @escaping @Sendable (Machine, Bool) -> Bool
    ) async throws {
        let wait = Interval(
            nanoseconds: options.scaled(.seconds(seconds)).nanoseconds + options.limit(.seconds(4)).nanoseconds)
        try await runner.until("\(name): \(what)", within: wait, condition).get()
    }

    /// Waits an interval of the script, in seconds, scaled.
    func wait(_ seconds: Double) async throws {
        try await Task.sleep(for: .nanoseconds(options.scaled(.seconds(seconds)).nanoseconds))
    }
}

extension Array where Element == UInt8 {
    /// The two parts before and after an offset.
    func cut(at place: Int) -> ([UInt8], [UInt8]) {
        (Array(prefix(place)), Array(dropFirst(place)))
    }
}
