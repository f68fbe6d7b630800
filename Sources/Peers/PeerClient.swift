import Framing
import NIOCore
import NIOPosix
import Streams

/// A client as a state machine: events go in with their times, actions come out.
package protocol ClientState: Sendable {
    /// The client's name, for messages.
    var name: String { get }

    /// The connection is established.
    mutating func connected(at time: Timestamp) -> [ClientAction]

    /// A message arrived on the connection, or bytes that are not a message.
    mutating func received(_ input: PeerInput, at time: Timestamp) -> [ClientAction]

    /// A timer is due.
    mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ClientAction]

    /// The connection is over; `error` if it did not end cleanly.
    mutating func lost(_ error: String?, at time: Timestamp) -> [ClientAction]
}

extension ClientState {
    package mutating func connected(at time: Timestamp) -> [ClientAction] { [] }
    package mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ClientAction] { [] }
    package mutating func lost(_ error: String?, at time: Timestamp) -> [ClientAction] { [] }
}

/// The client's actions, in order.
package enum ClientAction: Hashable, Sendable {
    /// Send, as one write.
    case send(PeerOutput)
    /// Send, split at these offsets: one write per part, with pauses between them in which everything else waits.
    case sendCut(PeerOutput, at: [Int], pause: Interval)
    /// Close the connection, after all data sent on it.
    case close
    /// Set a timer; a running timer of the same name is restarted.
    case wake(PeerTimer, after: Interval)
    /// Report a line to the user.
    case log(String)
}

/// Performs the actions of a `ClientState` on an event loop, with a real connection.
final class PeerClient<State: ClientState>: Sendable {
    private struct Session {
        var state: State
        var channel: (any Channel)?
        var timers: [PeerTimer: Scheduled<Void>] = [:]
        var lastError: String?
        /// The actions that wait for the rest of a frame; nil if none is in progress.
        var held: [ClientAction]?
        var waits: [Wait] = []
        var hasEnded = false
    }

    private struct Wait {
        let what: String
        let isOver: @Sendable (State) -> Bool
        let promise: EventLoopPromise<Void>
    }

    let name: String
    private let server: PeerAddress
    private let noDelay: Bool
    private let codec: @Sendable () -> FrameCodec
    private let log: PeerLog
    private let loop: any EventLoop
    private let session: NIOLoopBoundBox<Session>

    /// - Parameter codec: makes the connection's codec.
    init(
        _ state: State, of server: PeerAddress, options: PeerOptions, log: @escaping PeerLog,
        codec: @escaping @Sendable () -> FrameCodec
    ) {
        name = state.name
        self.server = server
        self.codec = codec
        self.log = log
        noDelay = options.noDelay
        loop = MultiThreadedEventLoopGroup.singleton.any()
        session = .makeBoxSendingValue(Session(state: state), eventLoop: loop)
    }

    /// Connects.
    ///
    /// - Throws: `PeerError` if the connection is not established within `wait`; `CancellationError` if `end` comes first.
    func start(within wait: Interval) async throws {
        do {
            let channel = try await ClientBootstrap(group: loop)
                .channelOption(.tcpOption(.tcp_nodelay), value: noDelay ? 1 : 0)
                .connectTimeout(TimeAmount(wait))
                .channelInitializer { [self] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(
                            FrameCodecHandler(codec()), PeerClientHandler(self))
                    }
                }
                .connect(host: server.host, port: server.port).get()
            if try await loop.submit({ [self] in session.value.hasEnded }).get() {
                channel.close(promise: nil)
                throw CancellationError()
            }
        } catch let error where !(error is CancellationError) {
            throw PeerError("\(name) could not connect to \(server): \(shortDescription(of: error))")
        }
    }

    /// Disconnects for good; done when the connection is closed. Pending waits fail with `CancellationError`.
    @discardableResult
    func end() -> EventLoopFuture<Void> {
        loop.flatSubmit { [self] in
            session.value.hasEnded = true
            let closed = session.value.channel?.closeFuture
            if session.value.channel != nil { log("\(name) disconnects") }
            session.value.channel?.close(promise: nil)
            let waits = session.value.waits
            session.value.waits = []
            for wait in waits { wait.promise.fail(CancellationError()) }
            return closed ?? loop.makeSucceededVoidFuture()
        }
    }

    /// Changes the state, and performs the resulting actions.
    ///
    /// - Throws: `PeerError` if there is no connection.
    func perform(_ change: @escaping @Sendable (inout State) -> [ClientAction]) async throws {
        try await loop.submit { [self] in
            guard session.value.channel != nil else { throw PeerError("\(name) is not connected: \(whyNot)") }
            self.change(change)
        }.get()
    }

    /// Sends each output as a write of its own, back to back.
    func send(_ outputs: [PeerOutput]) async throws {
        try await perform { _ in outputs.map { .send($0) } }
    }

    /// Sends bytes in parts, each a write of its own; returns when the last one is on its way.
    func send(parts: [[UInt8]], pause: Interval) async throws {
        let ends = parts.reduce(into: []) { $0.append(($0.last ?? 0) + $1.count) }
        let all = parts.flatMap { $0 }
        try await perform { _ in [.sendCut(.bytes(all), at: ends, pause: pause)] }
        try await Task.sleep(for: .nanoseconds(pause.nanoseconds * Int64(parts.count - 1)))
    }

    /// Waits until the state meets a condition.
    ///
    /// - Parameter what: the awaited condition, in words: "an answer to its login".
    /// - Throws: `PeerError` if the condition is not met within `limit`, or the connection is over before.
    func wait(
        for what: String, within limit: Interval, until isOver: @escaping @Sendable (State) -> Bool
    ) async throws {
        try await loop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            if isOver(session.value.state) { return loop.makeSucceededVoidFuture() }
            let promise = loop.makePromise(of: Void.self)
            guard session.value.channel != nil else {
                promise.fail(PeerError("\(name) waited for \(what), but is not connected: \(whyNot)"))
                return promise.futureResult
            }
            session.value.waits.append(Wait(what: what, isOver: isOver, promise: promise))
            let timeout = loop.scheduleTask(in: TimeAmount(limit)) { [self] in
                promise.fail(PeerError("\(name) waited \(limit.inSeconds) in vain for \(what)"))
            }
            promise.futureResult.whenComplete { _ in timeout.cancel() }
            return promise.futureResult
        }.get()
    }

    private var whyNot: String { session.value.lastError ?? "the server closed the connection" }

    private func change(_ change: (inout State) -> [ClientAction]) {
        perform(change(&session.value.state))
        var remaining: [Wait] = []
        var over: [Wait] = []
        for wait in session.value.waits {
            if wait.isOver(session.value.state) { over.append(wait) } else { remaining.append(wait) }
        }
        session.value.waits = remaining
        for wait in over { wait.promise.succeed() }
    }

    private func perform(_ actions: [ClientAction]) {
        for action in actions {
            switch action {
            case .log(let line): log(line)
            case .wake(let timer, let wait): schedule(timer, after: wait)
            case .send, .sendCut, .close: put(action)
            }
        }
    }

    /// Performs an action on the connection, or holds it until the frame in progress is sent.
    private func put(_ action: ClientAction) {
        if session.value.held != nil {
            session.value.held?.append(action)
            return
        }
        guard let channel = session.value.channel else { return }
        switch action {
        case .send(let output): channel.writeAndFlush(output, promise: nil)
        case .sendCut(let output, let places, let pause):
            do {
                let parts = try codec().encode(output).cut(at: places)
                session.value.held = []
                send(parts[...], pause: pause)
            } catch {
                log("\(name) cannot send: \(error)")
                channel.close(promise: nil)
            }
        case .close: channel.close(promise: nil)
        case .wake, .log: break
        }
    }

    private func send(_ parts: ArraySlice<[UInt8]>, pause: Interval) {
        if let part = parts.first { session.value.channel?.writeAndFlush(PeerOutput.bytes(part), promise: nil) }
        guard parts.count > 1 else {
            let held = session.value.held ?? []
            session.value.held = nil
            return perform(held)
        }
        loop.assumeIsolated().scheduleTask(in: TimeAmount(pause)) { [self] in
            guard session.value.channel != nil else { return }
            send(parts.dropFirst(), pause: pause)
        }
    }

    private func schedule(_ timer: PeerTimer, after wait: Interval) {
        session.value.timers[timer]?.cancel()
        session.value.timers[timer] = loop.scheduleTask(in: TimeAmount(wait)) { [self] in
            session.value.timers[timer] = nil
            guard session.value.channel != nil else { return }
            change { $0.due(timer, at: .monotonic) }
        }
    }

    fileprivate func connected(_ channel: any Channel) {
        session.value.channel = channel
        log("\(name) connected")
        change { $0.connected(at: .monotonic) }
    }

    fileprivate func received(_ input: PeerInput) {
        change { $0.received(input, at: .monotonic) }
    }

    fileprivate func lost(_ error: String?) {
        session.value.channel = nil
        session.value.held = nil
        session.value.lastError = error
        for timer in session.value.timers.values { timer.cancel() }
        session.value.timers = [:]
        if !session.value.hasEnded { log("\(name) \(whyNot)") }
        change { $0.lost(error, at: .monotonic) }
        let waits = session.value.waits
        session.value.waits = []
        for wait in waits { wait.promise.fail(PeerError("\(name) waited for \(wait.what): \(whyNot)")) }
    }
}

/// Notifies the client of events on its connection.
private final class PeerClientHandler<State: ClientState>: ChannelInboundHandler {
    typealias InboundIn = PeerInput

    private let client: PeerClient<State>
    private var error: String?

    init(_ client: PeerClient<State>) {
        self.client = client
    }

    func channelActive(context: ChannelHandlerContext) {
        client.connected(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        client.received(unwrapInboundIn(data))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = shortDescription(of: error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        client.lost(error)
    }
}
