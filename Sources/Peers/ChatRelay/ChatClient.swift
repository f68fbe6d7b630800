import Framing
import NIOCore
import NIOPosix
import Streams

/// A client of the chat relay: performs the actions of `ChatClientState` on an event loop.
final class ChatClient: Sendable {
    private struct Session {
        var state: ChatClientState
        var channel: (any Channel)?
        /// The next heartbeat or attempt to connect.
        var timer: Scheduled<Void>?
        var lastError: String?
        var connecting: EventLoopPromise<Void>?
        var arrival: (expectation: ChatExpectation, promise: EventLoopPromise<Void>)?
        /// State that a published client keeps from one connection to the next.
        var memory = PublishedHeadReader.Memory()
    }

    /// The ID it gives itself.
    let name: String
    private let server: PeerAddress
    private let format: Format
    private let noDelay: Bool
    private let hazards: Set<String>
    private let log: PeerLog
    private let loop: any EventLoop
    private let session: NIOLoopBoundBox<Session>

    init(_ name: String, of format: Format, server: PeerAddress, options: PeerOptions, log: @escaping PeerLog) {
        self.name = name
        self.server = server
        self.format = format
        self.log = log
        noDelay = options.noDelay
        hazards = options.asPublished
        loop = MultiThreadedEventLoopGroup.singleton.any()
        session = .makeBoxSendingValue(
            Session(state: ChatClientState(name: name, options: options)), eventLoop: loop)
    }

    /// Connects, and tries again until `end`.
    ///
    /// - Throws: `PeerError` if the first connection is not established within `wait`; the client keeps trying.
    ///   `CancellationError` if `end` comes first.
    func start(within wait: Interval) async throws {
        try await loop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            let actions = session.value.state.start()
            guard !actions.isEmpty else { return loop.makeFailedFuture(CancellationError()) }
            let promise = loop.makePromise(of: Void.self)
            session.value.connecting = promise
            perform(actions)
            return limit(promise, to: wait) { [self] in
                "\(name) could not connect to \(server): \(session.value.lastError ?? "no answer")"
            }
        }.get()
    }

    /// Disconnects for good; done when the connection is closed. Pending waits fail with `CancellationError`.
    @discardableResult
    func end() -> EventLoopFuture<Void> {
        loop.flatSubmit { [self] in
            let closed = session.value.channel?.closeFuture
            perform(session.value.state.end())
            session.value.timer?.cancel()
            session.value.connecting?.fail(CancellationError())
            session.value.arrival?.promise.fail(CancellationError())
            return closed ?? loop.makeSucceededVoidFuture()
        }
    }

    /// Sends messages, each in a write of its own, back to back.
    func send(_ messages: ChatMessage...) async throws {
        try await send(messages)
    }

    /// Sends messages, each in a write of its own, back to back.
    func send(_ messages: [ChatMessage]) async throws {
        try await submit { state in
            messages.flatMap { state.send(.messages([$0.frame(from: .fromClient)])) }
        }
    }

    /// Sends bytes that make up whole frames, one write for each part, with pauses between them in which nothing else is sent.
    func send(parts: [[UInt8]], pause: Interval) async throws {
        for (index, part) in parts.enumerated() {
            if index > 0 { try await Task.sleep(for: .nanoseconds(pause.nanoseconds)) }
            try await submit { state in
                switch (index, parts.count - 1) {
                case (0, 0): state.send(.bytes(part))
                case (0, _): state.beginFrame(with: part)
                case (let index, let last): index == last ? state.endFrame(with: part) : state.continueFrame(with: part)
                }
            }
        }
    }

    /// The bytes of messages, for `send(parts:pause:)`.
    func bytes(of messages: [ChatMessage]) throws -> [UInt8] {
        try FrameCodec(format, sending: .fromClient)
            .encode(.messages(messages.map { $0.frame(from: .fromClient) }))
    }

    /// Omits the next heartbeats; the connection stays open.
    func skipHeartbeats(_ count: Int) async throws {
        try await loop.submit { [self] in session.value.state.heartbeatsToSkip = count }.get()
    }

    /// A future that succeeds when all of `messages` have arrived, in order; call before they can arrive. It fails with
    /// `PeerError` after `wait`.
    func arrival(of messages: [ChatMessage], within wait: Interval) async throws -> EventLoopFuture<Void> {
        try await loop.submit { [self] in
            let promise = loop.makePromise(of: Void.self)
            session.value.arrival?.promise.fail(CancellationError())
            session.value.arrival = (ChatExpectation(messages), promise)
            return limit(promise, to: wait) { [self] in
                "\(name): \(session.value.arrival?.expectation.shortfall ?? "nothing expected")"
            }
        }.get()
    }

    private func submit(_ change: @escaping @Sendable (inout ChatClientState) -> [ChatClientState.Action]) async throws
    {
        try await loop.flatSubmit { [self] () -> EventLoopFuture<Void> in
            let actions = change(&session.value.state)
            guard !actions.isEmpty || session.value.state.isInsideFrame else {
                let why = session.value.lastError ?? "the server closed the connection"
                return loop.makeFailedFuture(PeerError("\(name) is not connected: \(why)"))
            }
            return perform(actions)
        }.get()
    }

    private func limit(
        _ promise: EventLoopPromise<Void>, to wait: Interval, _ complaint: @escaping @Sendable () -> String
    ) -> EventLoopFuture<Void> {
        let timeout = loop.scheduleTask(in: TimeAmount(wait)) { promise.fail(PeerError(complaint())) }
        promise.futureResult.whenComplete { _ in timeout.cancel() }
        return promise.futureResult
    }

    /// Performs the state's actions; returns the future of the last write.
    @discardableResult
    private func perform(_ actions: [ChatClientState.Action]) -> EventLoopFuture<Void> {
        var written = loop.makeSucceededVoidFuture()
        for action in actions {
            switch action {
            case .connect: connect()
            case .connectLater(let wait): schedule(after: wait) { $0.connectDue() }
            case .heartbeatLater(let wait): schedule(after: wait) { $0.heartbeatDue() }
            case .write(let output):
                if let channel = session.value.channel { written = channel.writeAndFlush(output) }
            case .close: session.value.channel?.close(promise: nil)
            case .deliver(let message): deliver(message)
            case .log(let line): log(line)
            }
        }
        return written
    }

    private func schedule(
        after wait: Interval, _ change: @escaping @Sendable (inout ChatClientState) -> [ChatClientState.Action]
    ) {
        session.value.timer?.cancel()
        session.value.timer = loop.scheduleTask(in: TimeAmount(wait)) { [self] in
            _ = perform(change(&session.value.state))
        }
    }

    private func deliver(_ message: ChatMessage) {
        session.value.arrival?.expectation.offer(message)
        if let arrival = session.value.arrival, arrival.expectation.isFulfilled {
            session.value.arrival = nil
            arrival.promise.succeed()
        }
    }

    private func connect() {
        ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: noDelay ? 1 : 0)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let reader =
                        hazards.isEmpty
                        ? nil : PublishedHeadReader(hazards: hazards, memory: session.value.memory)
                    let codec = FrameCodecHandler(FrameCodec(format, sending: .fromClient, reader: reader))
                    try channel.pipeline.syncOperations.addHandlers(codec, ChatClientHandler(self))
                }
            }
            .connect(host: server.host, port: server.port)
            .whenFailure { [self] error in lost(shortDescription(of: error)) }
    }

    fileprivate func connected(_ channel: any Channel) {
        session.value.channel = channel
        perform(session.value.state.connected(at: .monotonic))
        session.value.connecting?.succeed()
        session.value.connecting = nil
    }

    fileprivate func received(_ input: PeerInput) {
        perform(session.value.state.received(input))
    }

    fileprivate func lost(_ error: String?) {
        session.value.channel = nil
        session.value.lastError = error
        perform(session.value.state.lost(error, at: .monotonic))
    }
}

/// Notifies the client of events on its connection.
private final class ChatClientHandler: ChannelInboundHandler {
    typealias InboundIn = PeerInput

    private let client: ChatClient
    private var error: String?

    init(_ client: ChatClient) {
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
