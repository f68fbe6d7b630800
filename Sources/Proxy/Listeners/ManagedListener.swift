import Interception
import NIOCore
import Streams
import Synchronization

/// A listener with what makes the stages of its connections. They can be sent commands; and if it was opened while the proxy runs,
/// it can be closed.
package final class ManagedListener: Sendable {
    private struct State {
        var stages: @Sendable (Int, Endpoint) -> StageChain?
        var latest: @Sendable (Int) -> StageCommand? = { _ in nil }
        var connections: [Int: Connection] = [:]
        var channels: [ObjectIdentifier: any Channel] = [:]
        var listening: (any Channel)?
        var place = HostPort(host: "", port: 0)
        var isClosed = false
        /// Forgets the address.
        var forget: @Sendable () -> Void = {}
    }

    /// A connection, and what performs its stages' actions.
    private struct Connection: Sendable {
        var driver: NIOLoopBound<WeakDriver>
        var eventLoop: any EventLoop

        /// Passes a command to its stages: on its event loop, soon.
        func take(_ command: StageCommand) -> EventLoopFuture<Void> {
            eventLoop.submit { () -> Void in driver.value.driver?.take(.command(command)) }
        }
    }

    /// A command on its way to connections.
    package struct Delivery: Sendable {
        let taken: [EventLoopFuture<Void>]

        /// Waits until all of them have taken it: what they read from then on is subject to it.
        package func wait() async { for connection in taken { try? await connection.get() } }
    }

    private struct WeakDriver {
        weak var driver: StageDriver?
    }

    private let state: Mutex<State>

    init(stages: @escaping @Sendable (Int, Endpoint) -> StageChain?) { state = Mutex(State(stages: stages)) }

    /// Sets what makes the stages of a connection, by its number and its server.
    package func setStages(_ stages: @escaping @Sendable (Int, Endpoint) -> StageChain?) {
        state.withLock { $0.stages = stages }
    }

    /// Where it listens.
    package var place: HostPort { state.withLock { $0.place } }

    /// It listens.
    func bound(_ channel: any Channel, at place: HostPort, forget: @escaping @Sendable () -> Void) {
        state.withLock { ($0.listening, $0.place, $0.forget) = (channel, place, forget) }
    }

    /// Sets the command that a new connection gets.
    package func setLatest(_ command: @escaping @Sendable (Int) -> StageCommand?) {
        state.withLock { $0.latest = command }
    }

    /// The stages of a connection that opens now.
    func stages(of connection: Int, to server: Endpoint) -> StageChain? {
        state.withLock { $0.stages }(connection, server)
    }

    /// A client was accepted.
    func accepted(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        let isClosed = state.withLock { state in
            state.channels[key] = channel
            return state.isClosed
        }
        // Once it has the handlers that know how.
        if isClosed { Self.end(channel) }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.channels[key] = nil } }
    }

    /// A connection is relayed; on its event loop.
    ///
    /// What its stages had to know may have changed since they were made.
    func relayed(_ connection: Int, _ driver: StageDriver?, by channel: any Channel) {
        guard let driver else { return }
        defer { if let command = state.withLock({ $0.latest })(connection) { driver.take(.command(command)) } }
        let bound = NIOLoopBound(WeakDriver(driver: driver), eventLoop: channel.eventLoop)
        state.withLock { $0.connections[connection] = Connection(driver: bound, eventLoop: channel.eventLoop) }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[connection] = nil } }
    }

    /// Passes a command to the stages of the open connections.
    ///
    /// - Parameter command: makes it for a connection, by its number.
    package func send(_ command: (Int) -> StageCommand) -> Delivery {
        Delivery(taken: state.withLock({ $0.connections }).map { $0.value.take(command($0.key)) })
    }

    /// Passes a command to the stages of one connection.
    ///
    /// - Returns: whether it is open.
    package func send(_ command: StageCommand, to number: Int) -> Bool {
        guard let connection = state.withLock({ $0.connections[number] }) else { return false }
        connection.eventLoop.execute { connection.driver.value.driver?.take(.command(command)) }
        return true
    }

    /// Passes a decision to the stages of one connection.
    ///
    /// - Returns: what came of it; nil if the connection is not open.
    package func decide(_ decision: StageCommand, on number: Int) async -> StageCommand.Outcome? {
        guard let connection = state.withLock({ $0.connections[number] }) else { return nil }
        let outcome = connection.eventLoop.submit { () -> StageCommand.Outcome? in
            connection.driver.value.driver?.decide(decision)
        }
        return try? await outcome.get()
    }

    /// Accepts nobody any more.
    func stopListening() {
        let (listening, forget) = state.withLock { state in
            defer { state.listening = nil }
            return (state.listening, state.forget)
        }
        listening?.close(promise: nil)
        if listening != nil { forget() }
    }

    /// Stops listening, and resets the open connections. Done when the port is free again.
    package func close() async throws {
        let (listening, forget) = state.withLock { state in
            defer { (state.listening, state.isClosed) = (nil, true) }
            return (state.listening, state.forget)
        }
        if let listening {
            try? await listening.close()
            forget()
        }
        resetOpen()
    }

    /// Returns when no client is connected any more.
    package func waitForClients() async {
        while let channel = state.withLock({ $0.channels.values.first }) { try? await channel.closeFuture.get() }
    }

    /// Resets the open connections: on their event loops, soon.
    func resetOpen() {
        for channel in state.withLock({ Array($0.channels.values) }) { Self.end(channel) }
    }

    /// Resets a client: on its event loop, soon. That must not look like what the client did.
    private static func end(_ channel: any Channel) {
        channel.eventLoop.execute {
            let pipeline = channel.pipeline.syncOperations
            // Of one that is relayed, both ends are reset.
            if let end = try? pipeline.handler(type: RelayHandler.self) { return end.endByCommand() }
            // One that is still entering is not joined with the server that is being connected to.
            if let entry = try? pipeline.handler(type: EntryHandler.self) { return entry.endByCommand() }
            channel.resetOnClose()
            channel.close(promise: nil)
        }
    }
}
