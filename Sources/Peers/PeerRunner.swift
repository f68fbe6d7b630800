import NIOCore
import NIOPosix
import Platform
import Streams
import Systems

/// Drives one peer on one event loop: a server with its connections, or a client with one after another. Everything that a peer
/// does is decided by its `PeerSession`; here are its sockets and timers.
final class PeerRunner<Machine: PeerMachine>: Sendable {
    private struct State {
        var session: PeerSession<Machine>
        var channels: [Int: any Channel] = [:]
        /// What was last written on each connection: it succeeds once the kernel has taken everything.
        var lastWrites: [Int: EventLoopFuture<Void>] = [:]
        var timers: [PeerTimer: Scheduled<Void>] = [:]
        /// The next attempt to connect, or the one under way.
        var attempt: Scheduled<Void>?
        var accepted = 0
        var lastError: String?
        var hasEnded = false
        var waits: [Int: Wait] = [:]
        var waited = 0
    }

    /// A script that waits until the machine is in a certain state.
    private struct Wait {
        let what: String
        let isOver: @Sendable (_ machine: Machine, _ isConnected: Bool) -> Bool
        let promise: EventLoopPromise<Void>
    }

    /// With more unsent bytes than this, the other end is not reading: the connection is closed.
    private static var unsentLimit: Int { 16 << 20 }

    /// How long a connection that closes waits for the other end to take what was sent, and how long if the peer ends.
    private static var closingLimits: (usual: TimeAmount, atEnd: TimeAmount) { (.seconds(60), .seconds(5)) }

    private let name: String
    private let options: PeerOptions
    private let log: PeerLog
    /// Where a client connects; nil for a server.
    private let server: PeerAddress?
    private let loop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    /// A peer on one of NIO's shared event loops: a server, or the client of one.
    init(_ machine: Machine, of server: PeerAddress? = nil, noDelay: Bool = false, log: @escaping PeerLog) {
        (name, self.server, self.log) = (machine.name, server, log)
        var options = machine.setup.options
        options.noDelay = options.noDelay || noDelay
        self.options = options
        loop = MultiThreadedEventLoopGroup.singleton.any()
        state = .makeBoxSendingValue(State(session: PeerSession(machine)), eventLoop: loop)
    }

    // MARK: A server

    /// Serves until the task is cancelled.
    ///
    /// - Throws: `PeerError` if it cannot listen there.
    func serve(at address: PeerAddress, bound: @Sendable (Endpoint) -> Void) async throws {
        let listener: any Channel
        do {
            listener = try await ServerBootstrap(group: loop)
                .serverChannelOption(.backlog, value: 256)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { [self] in prepare($0) }
                .bind(host: address.host, port: address.port).get()
        } catch {
            try await end()
            throw PeerError("cannot listen on \(address): \(shortDescription(of: error))")
        }
        if let endpoint = Endpoint(listener.localAddress) { bound(endpoint) }
        try await loop.submit { [self] in change { $0.started(at: .now) } }.get()
        try await withTaskCancellationHandler {
            try await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        try await end()
    }

    // MARK: A client

    /// Connects, for the first time. A client that tries again goes on doing so.
    ///
    /// - Throws: `PeerError` if there is no connection within the options' limit.
    func connect() async throws {
        try await loop.submit { [self] in change { $0.started(at: .now) } }.get()
        do {
            try await wait(for: "a connection", within: options.limit(0)) { $1 }
        } catch is PeerError {
            let why = try await loop.submit { [self] in state.value.lastError ?? "no answer" }.get()
            throw PeerError("\(name) could not connect to \(server.map { "\($0)" } ?? "nobody"): \(why)")
        }
    }

    /// Does something with the machine.
    ///
    /// - Throws: `PeerError` if there is no connection.
    func tell(_ change: @escaping @Sendable (inout Machine, Timestamp) -> [PeerAction]) async throws {
        try await loop.submit { [self] in
            guard !state.value.channels.isEmpty else { throw PeerError("\(name) is not connected: \(whyNot)") }
            self.change { session in session.change { change(&$0, .now) } }
        }.get()
    }

    /// Waits until the machine is in a certain state.
    ///
    /// - Throws: `PeerError` if it is not within `limit`, or the connection is over before and there will be no other;
    ///   `CancellationError` if the task is cancelled, or the peer ends.
    func wait(
        for what: String, within limit: Interval,
        until isOver: @escaping @Sendable (_ machine: Machine, _ isConnected: Bool) -> Bool
    ) async throws {
        let future = loop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            if state.value.hasEnded { return loop.makeFailedFuture(CancellationError()) }
            let promise = loop.makePromise(of: Void.self)
            state.value.waited += 1
            let number = state.value.waited
            state.value.waits[number] = Wait(what: what, isOver: isOver, promise: promise)
            let timeout = loop.scheduleTask(in: TimeAmount(limit)) { [self] in
                fail(number, "\(name) waited \(limit.inSeconds) in vain for \(what)")
            }
            promise.futureResult.whenComplete { _ in timeout.cancel() }
            look()
            return promise.futureResult
        }
        try await withTaskCancellationHandler {
            try await future.get()
        } onCancel: {
            loop.execute { [self] in finish() }
        }
    }

    /// Closes every connection for good; done when they are closed. Pending waits fail with `CancellationError`.
    func end() async throws {
        try await loop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            let closing = state.value.channels.values.map(\.closeFuture)
            finish()
            // Errors on closing do not matter: they are closed.
            return .andAllComplete(closing, on: loop)
        }.get()
    }

    private func finish() {
        state.value.hasEnded = true
        state.value.attempt?.cancel()
        for timer in state.value.timers.values { timer.cancel() }
        state.value.timers = [:]
        let waits = state.value.waits.values.map(\.promise)
        state.value.waits = [:]
        for wait in waits { wait.fail(CancellationError()) }
        change { $0.end() }
    }

    private var whyNot: String { state.value.lastError ?? "the server closed the connection" }

    // MARK: Actions

    private func change(_ change: (inout PeerSession<Machine>) -> [PeerAction]) {
        var written: Set<Int> = []
        for action in change(&state.value.session) { perform(action, &written) }
        for number in written { state.value.channels[number]?.flush() }
        look()
    }

    private func perform(_ action: PeerAction, _ written: inout Set<Int>) {
        switch action {
        case .log(let line): log(line)
        case .close(let number):
            guard let channel = state.value.channels[number] else { return }
            channel.flush()
            close(channel, after: state.value.lastWrites[number])
        case .send(.bytes(let bytes), let number):
            guard let channel = state.value.channels[number] else { return }
            guard channel.isWritable else {
                log("\(name.isEmpty ? "#\(number)" : "the server") does not read what it is sent: closed")
                return channel.close(promise: nil)
            }
            let taken = loop.makePromise(of: Void.self)
            state.value.lastWrites[number] = taken.futureResult
            channel.write(channel.allocator.buffer(bytes: bytes), promise: taken)
            // A client's writes are those of its script; a server answers a read with one.
            if server == nil { written.insert(number) } else { channel.flush() }
        case .wake(let timer, let wait):
            guard !state.value.hasEnded else { return }
            state.value.timers[timer]?.cancel()
            state.value.timers[timer] = loop.scheduleTask(in: TimeAmount(wait)) { [self] in
                state.value.timers[timer] = nil
                change { $0.due(timer, at: .now) }
            }
        case .connect(let wait):
            guard !state.value.hasEnded, let server else { return }
            state.value.attempt = loop.scheduleTask(in: TimeAmount(wait)) { [self] in open(to: server) }
        case .send, .sendCut: preconditionFailure("a session encodes what is sent")
        }
    }

    /// Closes a connection once everything is sent: NIO drops what the kernel has not taken by then.
    private func close(_ channel: any Channel, after lastWrite: EventLoopFuture<Void>?) {
        guard let lastWrite else { return channel.close(promise: nil) }
        let limit = state.value.hasEnded ? Self.closingLimits.atEnd : Self.closingLimits.usual
        let timeout = loop.scheduleTask(in: limit) { channel.close(promise: nil) }
        lastWrite.whenComplete { _ in
            timeout.cancel()
            channel.close(promise: nil)
        }
    }

    private func open(to server: PeerAddress) {
        ClientBootstrap(group: loop).channelInitializer { [self] in prepare($0) }
            .connect(host: server.host, port: server.port)
            .whenFailure { [self] error in closed(1, error: shortDescription(of: error)) }
    }

    private func prepare(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture { [self] in
            let channelOptions = channel.syncOptions
            try channelOptions?.setOption(.tcpOption(.tcp_nodelay), value: options.noDelay ? 1 : 0)
            let limit = Self.unsentLimit
            try channelOptions?.setOption(.writeBufferWaterMark, value: .init(low: limit / 4, high: limit))
            if server == nil, let size = options.readSize {
                try channelOptions?.setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: size))
            }
            try channel.pipeline.syncOperations.addHandler(PeerHandler(self))
        }
    }

    // MARK: Events

    fileprivate func opened(_ channel: any Channel) -> Int {
        state.value.accepted += 1
        let number = server == nil ? state.value.accepted : 1
        state.value.channels[number] = channel
        state.value.attempt = nil
        let peer = Endpoint(channel.remoteAddress)?.description ?? "somewhere"
        change { $0.opened(number, by: peer, at: .now) }
        return number
    }

    fileprivate func received(_ bytes: [UInt8], on number: Int) {
        guard state.value.channels[number]?.isActive == true else { return }
        change { $0.received(bytes, on: number, at: .now) }
    }

    fileprivate func closed(_ number: Int, error: String?) {
        state.value.channels[number] = nil
        state.value.lastWrites[number] = nil
        (state.value.attempt, state.value.lastError) = (nil, error)
        if server != nil {
            for timer in state.value.timers.values { timer.cancel() }
            state.value.timers = [:]
        }
        change { $0.closed(number, error: error, at: .now) }
    }

    /// Looks whether waits are over, or in vain.
    private func look() {
        let isConnected = !state.value.channels.isEmpty
        for (number, wait) in state.value.waits {
            if let failure = state.value.session.machine.failure {
                fail(number, "\(name): \(failure)")
            } else if wait.isOver(state.value.session.machine, isConnected) {
                state.value.waits[number] = nil
                wait.promise.succeed()
            } else if !isConnected, state.value.attempt == nil {
                fail(number, "\(name) waited for \(wait.what): \(whyNot)")
            }
        }
    }

    private func fail(_ number: Int, _ why: String) {
        guard let wait = state.value.waits.removeValue(forKey: number) else { return }
        let shortfall = state.value.session.machine.shortfall.map { "; \($0)" } ?? ""
        wait.promise.fail(PeerError(why + shortfall))
    }
}

/// Notifies a runner of events on one connection.
private final class PeerHandler<Machine: PeerMachine>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let runner: PeerRunner<Machine>
    private var number = 0
    private var error: String?

    init(_ runner: PeerRunner<Machine>) { self.runner = runner }

    func channelActive(context: ChannelHandlerContext) { number = runner.opened(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        if buffer.readableBytes > 0 { runner.received(Array(buffer.readableBytesView), on: number) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = shortDescription(of: error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { runner.closed(number, error: error) }
}

extension TimeAmount {
    /// The same length of time for NIO.
    init(_ interval: Interval) { self = .nanoseconds(interval.nanoseconds) }
}

extension Timestamp {
    /// The time of day when the process first asked for it, and the event loops' monotonic clock from then on.
    static var now: Timestamp { toTimeOfDay + Interval(nanoseconds: monotonic) }

    private static var monotonic: Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }
    private static let toTimeOfDay = Timestamp(nanoseconds: SystemClock.nanoseconds() - monotonic)
}
