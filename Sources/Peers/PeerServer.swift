import Framing
import NIOCore
import NIOPosix
import Streams

/// A server as a state machine: events go in with their times, actions come out.
package protocol ServerState: Sendable {
    /// The server is listening.
    mutating func started(at time: Timestamp) -> [ServerAction]

    /// A connection was accepted. Its number is new; numbers count from 1.
    mutating func opened(_ number: Int, by client: String, at time: Timestamp) -> [ServerAction]

    /// A message arrived on a connection, or bytes that are not a message.
    mutating func received(_ input: PeerInput, on number: Int, at time: Timestamp) -> [ServerAction]

    /// A timer is due.
    mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ServerAction]

    /// A connection is over; `error` if it did not end cleanly.
    mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [ServerAction]
}

extension ServerState {
    package mutating func started(at time: Timestamp) -> [ServerAction] { [] }
    package mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ServerAction] { [] }
}

/// The server's actions, in order.
package enum ServerAction: Hashable, Sendable {
    /// Send on a connection. The output caused by one read or timer is sent together.
    case send(PeerOutput, connection: Int)
    /// Close a connection, after all data sent on it.
    case close(connection: Int)
    /// Set a timer; a running timer of the same name is restarted.
    case wake(PeerTimer, after: Interval)
    /// Report a line to the user.
    case log(String)
}

/// The name of a timer of a state machine.
package struct PeerTimer: Hashable, Sendable, ExpressibleByStringLiteral {
    let name: String

    package init(stringLiteral name: String) {
        self.name = name
    }
}

/// Performs the actions of a `ServerState` on one event loop, with real connections.
final class PeerServer<State: ServerState>: Sendable {
    private struct Connections {
        var state: State
        var channels: [Int: any Channel] = [:]
        var timers: [PeerTimer: Scheduled<Void>] = [:]
        var unflushed: Set<Int> = []
        var accepted = 0
        var isClosing = false
    }

    /// With more unsent bytes than this, a receiver is not reading, and its messages are lost.
    private static var unsentLimit: Int { 16 << 20 }

    private let loop: any EventLoop
    private let connections: NIOLoopBoundBox<Connections>
    private let log: PeerLog

    private init(_ state: State, on loop: any EventLoop, log: @escaping PeerLog) {
        self.loop = loop
        self.log = log
        connections = .makeBoxSendingValue(Connections(state: state), eventLoop: loop)
    }

    /// Serves until the task is cancelled (`ReferencePeer.serve`).
    ///
    /// - Parameter codec: makes the codec of each connection.
    static func run(
        _ state: State, at address: PeerAddress, options: PeerOptions, bound: @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog, codec: @escaping @Sendable () -> FrameCodec
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let server = PeerServer(state, on: loop, log: log)
        let listener = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: options.noDelay ? 1 : 0)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: unsentLimit / 4, high: unsentLimit))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        FrameCodecHandler(codec()), PeerServerHandler(server))
                }
            }
            .bind(host: address.host, port: address.port).get()
        if let endpoint = Endpoint(listener.localAddress) { bound(endpoint) }
        try await loop.submit { server.change { $0.started(at: .monotonic) } }.get()
        try await withTaskCancellationHandler {
            try await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        try await loop.submit { server.closeAll() }.get()
    }

    /// A connection was accepted; returns its number.
    fileprivate func opened(_ channel: any Channel) -> Int {
        connections.value.accepted += 1
        let number = connections.value.accepted
        connections.value.channels[number] = channel
        if connections.value.isClosing { channel.close(promise: nil) }
        let client = Endpoint(channel.remoteAddress)?.description ?? "somewhere"
        change { $0.opened(number, by: client, at: .monotonic) }
        return number
    }

    fileprivate func received(_ input: PeerInput, on number: Int) {
        perform(connections.value.state.received(input, on: number, at: .monotonic))
    }

    fileprivate func closed(_ number: Int, error: String?) {
        connections.value.channels[number] = nil
        change { $0.closed(number, error: error, at: .monotonic) }
    }

    /// Sends the output caused by a read: messages that arrived in one read are answered in one write.
    fileprivate func flush() {
        let numbers = connections.value.unflushed
        connections.value.unflushed = []
        for number in numbers { connections.value.channels[number]?.flush() }
    }

    private func change(_ change: (inout State) -> [ServerAction]) {
        perform(change(&connections.value.state))
        flush()
    }

    private func closeAll() {
        connections.value.isClosing = true
        for timer in connections.value.timers.values { timer.cancel() }
        for channel in connections.value.channels.values { channel.close(promise: nil) }
    }

    private func perform(_ actions: [ServerAction]) {
        for action in actions {
            switch action {
            case .log(let line): log(line)
            case .wake(let timer, let wait): schedule(timer, after: wait)
            case .close(let number):
                connections.value.channels[number]?.flush()
                connections.value.channels[number]?.close(promise: nil)
            case .send(let output, let number):
                guard let channel = connections.value.channels[number] else { continue }
                guard channel.isWritable else {
                    log("#\(number) does not read: a message is lost")
                    continue
                }
                channel.write(output, promise: nil)
                connections.value.unflushed.insert(number)
            }
        }
    }

    private func schedule(_ timer: PeerTimer, after wait: Interval) {
        guard !connections.value.isClosing else { return }
        connections.value.timers[timer]?.cancel()
        connections.value.timers[timer] = loop.scheduleTask(in: TimeAmount(wait)) { [self] in
            connections.value.timers[timer] = nil
            change { $0.due(timer, at: .monotonic) }
        }
    }
}

/// Notifies the server of events on one connection.
private final class PeerServerHandler<State: ServerState>: ChannelInboundHandler {
    typealias InboundIn = PeerInput

    private let server: PeerServer<State>
    private var number = 0
    private var error: String?

    init(_ server: PeerServer<State>) {
        self.server = server
    }

    func channelActive(context: ChannelHandlerContext) {
        number = server.opened(context.channel)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        server.received(unwrapInboundIn(data), on: number)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        server.flush()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = shortDescription(of: error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        server.closed(number, error: error)
    }
}
