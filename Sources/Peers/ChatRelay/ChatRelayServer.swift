import Framing
import NIOCore
import NIOPosix
import Streams

/// The chat relay's server: does on one event loop what `ChatRelayState` says.
final class ChatRelayServer: Sendable {
    private struct Connections {
        var state: ChatRelayState
        var channels: [Int: any Channel] = [:]
        var unflushed: Set<Int> = []
        var accepted = 0
        var isClosing = false
    }

    /// Beyond this many unsent bytes a receiver does not read, and its messages are lost.
    private static let unsentLimit = 16 << 20

    private let loop: any EventLoop
    private let connections: NIOLoopBoundBox<Connections>
    private let log: PeerLog

    private init(on loop: any EventLoop, options: PeerOptions, log: @escaping PeerLog) {
        self.loop = loop
        self.log = log
        let state = ChatRelayState(silence: options.scaled(.seconds(20)), storeOffline: options.storeOffline)
        connections = .makeBoxSendingValue(Connections(state: state), eventLoop: loop)
    }

    /// Serves until the task is cancelled (`ReferencePeer.serve`).
    static func run(
        _ format: Format, at address: PeerAddress, options: PeerOptions, bound: @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let server = ChatRelayServer(on: loop, options: options, log: log)
        let listener = try await ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: options.noDelay ? 1 : 0)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: unsentLimit / 4, high: unsentLimit))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let codec = FrameCodecHandler(FrameCodec(format, sending: .fromServer))
                    try channel.pipeline.syncOperations.addHandlers(codec, ChatRelayHandler(server))
                }
            }
            .bind(host: address.host, port: address.port).get()
        if let endpoint = Endpoint(listener.localAddress) { bound(endpoint) }
        let every = TimeAmount(options.scaled(.seconds(30)))
        let sweeps = loop.scheduleRepeatedTask(initialDelay: every, delay: every) { _ in server.sweep() }
        defer { sweeps.cancel() }
        try await withTaskCancellationHandler {
            try await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        try await loop.submit { server.closeAll() }.get()
    }

    /// A connection was accepted; gives its number, counted from 1.
    func opened(_ channel: any Channel) -> Int {
        connections.value.accepted += 1
        let number = connections.value.accepted
        connections.value.channels[number] = channel
        if connections.value.isClosing { channel.close(promise: nil) }
        let client = Endpoint(channel.remoteAddress)?.description ?? "somewhere"
        perform(connections.value.state.opened(number, by: client, at: .monotonic))
        return number
    }

    func received(_ input: PeerInput, on number: Int) {
        perform(connections.value.state.received(input, on: number, at: .monotonic))
    }

    func closed(_ number: Int, error: String?) {
        connections.value.channels[number] = nil
        perform(connections.value.state.closed(number, error: error))
    }

    /// Sends what a read led to: messages that came in one read go out in one write.
    func flush() {
        let numbers = connections.value.unflushed
        connections.value.unflushed = []
        for number in numbers { connections.value.channels[number]?.flush() }
    }

    private func sweep() {
        perform(connections.value.state.sweep(at: .monotonic))
    }

    private func closeAll() {
        connections.value.isClosing = true
        for channel in connections.value.channels.values { channel.close(promise: nil) }
    }

    private func perform(_ actions: [ChatRelayState.Action]) {
        for action in actions {
            switch action {
            case .log(let line): log(line)
            case .evict(let number): connections.value.channels[number]?.close(promise: nil)
            case .send(let message, let number):
                guard let channel = connections.value.channels[number] else { continue }
                guard channel.isWritable else {
                    log("#\(number) does not read: \(message), lost")
                    continue
                }
                channel.write(PeerOutput.messages([message.frame(from: .fromServer)]), promise: nil)
                connections.value.unflushed.insert(number)
            }
        }
    }
}

/// Tells the server what happens on one connection.
private final class ChatRelayHandler: ChannelInboundHandler {
    typealias InboundIn = PeerInput

    private let server: ChatRelayServer
    private var number = 0
    private var error: String?

    init(_ server: ChatRelayServer) {
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
