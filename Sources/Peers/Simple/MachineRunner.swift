import NIOCore
import NIOPosix
import Streams

/// Performs the actions of a machine on one event loop: the part that servers and clients share.
final class MachineRunner<Machine: PeerMachine>: Sendable {
    typealias Action = PeerAction<Machine.Alarm, Machine.Work>
    /// Does a machine's work. It blocks the event loop, so that work is done in order and no faster than it arrives.
    typealias Worker = @Sendable (Machine.Work) throws -> Void

    private struct Session {
        var machine: Machine
        var channels: [Int: any Channel] = [:]
        var alarms: [Machine.Alarm: Scheduled<Void>] = [:]
        var connections = 0
        var connect: Scheduled<Void>?
        var connecting = false
        var watchers: [Int: Watcher] = [:]
        var watched = 0
        var lastError: String?
        var hasEnded = false

        /// Whether there was a connection or an attempt, and there is none now nor will be.
        var isOver: Bool { channels.isEmpty && !connecting && (connections > 0 || lastError != nil) }
    }

    /// A caller that waits until the machine is in a certain state.
    private struct Watcher {
        let what: String
        let condition: @Sendable (_ machine: Machine, _ isConnected: Bool) -> Bool
        let promise: EventLoopPromise<Void>
    }

    /// With more unsent bytes than this, the other end is not reading: the connection is closed.
    static var unsentLimit: Int { 16 << 20 }

    let loop: any EventLoop
    private let log: PeerLog
    private let worker: Worker
    private let connector: (@Sendable (MachineRunner) -> EventLoopFuture<Void>)?
    private let session: NIOLoopBoundBox<Session>

    /// A runner on one of NIO's shared event loops.
    ///
    /// - Parameter connector: connects, with a `MachineHandler` on the new channel; nil for a server.
    init(
        _ machine: sending Machine, log: @escaping PeerLog, worker: @escaping Worker = { _ in },
        connector: (@Sendable (MachineRunner) -> EventLoopFuture<Void>)? = nil
    ) {
        loop = MultiThreadedEventLoopGroup.singleton.any()
        (self.log, self.worker, self.connector) = (log, worker, connector)
        session = .makeBoxSendingValue(Session(machine: machine), eventLoop: loop)
    }

    /// The peer begins.
    func start() -> EventLoopFuture<Void> {
        loop.submit { [self] in change { $0.started(at: .monotonic) } }
    }

    /// Closes every connection for good; done when they are closed. Pending waits fail with `CancellationError`.
    @discardableResult
    func end() -> EventLoopFuture<Void> {
        loop.flatSubmit { [self] in
            session.value.hasEnded = true
            session.value.connect?.cancel()
            for alarm in session.value.alarms.values { alarm.cancel() }
            session.value.alarms = [:]
            for watcher in session.value.watchers.values { watcher.promise.fail(CancellationError()) }
            session.value.watchers = [:]
            let channels = Array(session.value.channels.values)
            for channel in channels { channel.close(promise: nil) }
            // Errors on closing do not matter: they are closed.
            return .andAllComplete(channels.map(\.closeFuture), on: loop)
        }
    }

    /// Gives the machine a task, and performs the resulting actions.
    func run(_ change: @escaping @Sendable (inout Machine) -> [Action]) -> EventLoopFuture<Void> {
        loop.submit { [self] in self.change(change) }
    }

    /// The machine's state.
    func value<Value: Sendable>(_ value: @escaping @Sendable (Machine) -> Value) -> EventLoopFuture<Value> {
        loop.submit { [self] in value(session.value.machine) }
    }

    /// Sends bytes on the newest connection, as one write.
    func write(_ bytes: [UInt8]) -> EventLoopFuture<Void> {
        loop.flatSubmit { [self] in
            guard let channel = session.value.channels[session.value.connections] else {
                let why = session.value.lastError ?? "the server closed the connection"
                return loop.makeFailedFuture(PeerError("not connected: \(why)"))
            }
            return channel.writeAndFlush(channel.allocator.buffer(bytes: bytes))
        }
    }

    /// A future that succeeds when the machine is in a certain state. It fails with `PeerError` after `wait`, or when the
    /// connection is over and the machine does not reconnect.
    func until(
        _ what: String, within wait: Interval,
        _ condition: @escaping @Sendable (_ machine: Machine, _ isConnected: Bool) -> Bool
    ) -> EventLoopFuture<Void> {
        loop.flatSubmit { [self] in
            if condition(session.value.machine, !session.value.channels.isEmpty) {
                return loop.makeSucceededVoidFuture()
            }
            if session.value.hasEnded { return loop.makeFailedFuture(CancellationError()) }
            let promise = loop.makePromise(of: Void.self)
            session.value.watched += 1
            let number = session.value.watched
            session.value.watchers[number] = Watcher(what: what, condition: condition, promise: promise)
            let timeout = loop.scheduleTask(in: TimeAmount(wait)) { [self] in
                session.value.watchers[number] = nil
                let why = session.value.lastError.map { " (\($0))" } ?? ""
                promise.fail(PeerError("waited \(wait.inSeconds) in vain for \(what)\(why)"))
            }
            promise.futureResult.whenComplete { _ in timeout.cancel() }
            if session.value.isOver { giveUp() }
            return promise.futureResult
        }
    }

    private func change(_ change: (inout Machine) -> [Action]) {
        perform(change(&session.value.machine))
        let isConnected = !session.value.channels.isEmpty
        for (number, watcher) in session.value.watchers
        where watcher.condition(session.value.machine, isConnected) {
            session.value.watchers[number] = nil
            watcher.promise.succeed()
        }
    }

    private func perform(_ actions: [Action]) {
        var written: Set<Int> = []
        perform(actions, &written)
        for number in written { session.value.channels[number]?.flush() }
    }

    private func perform(_ actions: [Action], _ written: inout Set<Int>) {
        for action in actions {
            switch action {
            case .log(let line): log(line)
            case .write(let bytes, let number):
                guard let channel = session.value.channels[number] else { continue }
                guard channel.isWritable else {
                    log("#\(number) does not read what it is sent: closed")
                    channel.close(promise: nil)
                    continue
                }
                channel.write(channel.allocator.buffer(bytes: bytes), promise: nil)
                written.insert(number)
            case .close(let number):
                session.value.channels[number]?.flush()
                session.value.channels[number]?.close(promise: nil)
            case .alarm(let alarm, let wait):
                guard !session.value.hasEnded else { continue }
                session.value.alarms[alarm]?.cancel()
                session.value.alarms[alarm] = loop.scheduleTask(in: TimeAmount(wait)) { [self] in
                    session.value.alarms[alarm] = nil
                    change { $0.due(alarm, at: .monotonic) }
                }
            case .connect(let wait):
                guard !session.value.hasEnded, connector != nil else { continue }
                session.value.connecting = true
                session.value.connect = loop.scheduleTask(in: TimeAmount(wait)) { [self] in connect() }
            case .work(let work):
                var failure: String?
                do { try worker(work) } catch { failure = shortDescription(of: error) }
                perform(session.value.machine.done(work, error: failure, at: .monotonic), &written)
            }
        }
    }

    private func connect() {
        session.value.connect = nil
        connector?(self).whenFailure { [self] error in closed(0, error: shortDescription(of: error)) }
    }

    // MARK: Events from handlers

    fileprivate func opened(_ channel: any Channel) -> Int {
        session.value.connections += 1
        session.value.connecting = false
        let number = session.value.connections
        session.value.channels[number] = channel
        guard !session.value.hasEnded else {
            channel.close(promise: nil)
            return number
        }
        let peer = Endpoint(channel.remoteAddress)?.description ?? "somewhere"
        change { $0.opened(number, with: peer, at: .monotonic) }
        return number
    }

    fileprivate func received(_ bytes: [UInt8], on number: Int) {
        guard session.value.channels[number]?.isActive == true else { return }
        change { $0.received(bytes, on: number, at: .monotonic) }
    }

    fileprivate func closed(_ number: Int, error: String?) {
        session.value.channels[number] = nil
        session.value.connecting = false
        session.value.lastError = error
        // A client that has been ended takes no further action.
        guard connector == nil || !session.value.hasEnded else { return }
        change { $0.closed(number, error: error, at: .monotonic) }
        if session.value.isOver { giveUp() }
    }

    /// Nothing more will happen: waiting is pointless.
    private func giveUp() {
        guard connector != nil else { return }
        let why = session.value.lastError ?? "the server closed the connection"
        for watcher in session.value.watchers.values {
            watcher.promise.fail(PeerError("waited in vain for \(watcher.what): \(why)"))
        }
        session.value.watchers = [:]
    }
}

/// Notifies a runner of events on one connection.
final class MachineHandler<Machine: PeerMachine>: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let runner: MachineRunner<Machine>
    private var number = 0
    private var error: String?

    init(_ runner: MachineRunner<Machine>) {
        self.runner = runner
    }

    func channelActive(context: ChannelHandlerContext) {
        number = runner.opened(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard buffer.readableBytes > 0 else { return }
        runner.received(Array(buffer.readableBytesView), on: number)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = shortDescription(of: error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        runner.closed(number, error: error)
    }
}
