import NIOCore
import NIOPosix
import Streams
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The man in the middle: accepts clients, connects each to its server, and relays.
package final class ProxyServer: Sendable {
    private let options: ProxyOptions
    private let queue: RecordingQueue
    private let group: MultiThreadedEventLoopGroup
    private let listener = Mutex<(any Channel)?>(nil)
    private let relays = OpenRelays()

    /// A proxy that does not listen yet.
    ///
    /// - Parameter queue: where it notes what it relays.
    package init(_ options: ProxyOptions, queue: RecordingQueue, threads: Int = 1) {
        self.options = options
        self.queue = queue
        group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    }

    /// Binds, and begins to accept clients.
    ///
    /// - Returns: the address it listens on.
    package func start() throws -> HostPort {
        bound(to: try bootstrap.bind(host: options.listen.host, port: options.listen.port).wait())
    }

    /// `start` without blocking the thread.
    package func startListening() async throws -> HostPort {
        bound(to: try await bootstrap.bind(host: options.listen.host, port: options.listen.port).get())
    }

    private func bound(to channel: any Channel) -> HostPort {
        listener.withLock { $0 = channel }
        let address = channel.localAddress
        return HostPort(host: address?.ipAddress ?? options.listen.host, port: address?.port ?? options.listen.port)
    }

    private var bootstrap: ServerBootstrap {
        let proxy = self
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.recvAllocator, value: Self.allocator)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = RelayHandler(reading: .fromClient, relays: proxy.relays)
                    proxy.relays.add(channel)
                    try channel.pipeline.syncOperations.addHandler(handler)
                    proxy.connect(channel, handler)
                }
            }
    }

    /// Stops accepting clients; what is open stays so until `shutDown`.
    package func stopListening() {
        let channel = listener.withLock { channel in
            defer { channel = nil }
            return channel
        }
        channel?.close(promise: nil)
    }

    /// Waits until everything that is open has ended by itself, for so many seconds at most.
    ///
    /// - Returns: whether nothing is open any more.
    package func drained(within seconds: Double) async throws -> Bool {
        try await relays.isEmpty(within: .nanoseconds(Int64(seconds * 1e9)), on: group.any()).get()
    }

    /// Closes everything. What was open has been ended by none of its sides, and is recorded so.
    package func shutDown() throws {
        relays.stop()
        try group.syncShutdownGracefully()
    }

    /// `shutDown` without blocking the thread.
    package func close() async throws {
        relays.stop()
        try await group.shutdownGracefully()
    }

    private static let allocator = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 65_536)

    /// Connects an accepted client to its server. Runs on the client's event loop, which both share.
    private func connect(_ client: any Channel, _ handler: RelayHandler) {
        let loop = client.eventLoop
        let clientAddress = Endpoint(client.remoteAddress)  // a closed channel does not know it any more
        let clientEnd = NIOLoopBound(handler, eventLoop: loop)
        let queue = queue
        let relays = relays
        let to = options.to
        ClientBootstrap(group: loop)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.recvAllocator, value: Self.allocator)
            .connectTimeout(.nanoseconds(Int64(options.connectTimeout * 1e9)))
            .channelInitializer { server in
                server.eventLoop.makeCompletedFuture {
                    relays.add(server)
                    try server.pipeline.syncOperations.addHandler(RelayHandler(reading: .fromServer, relays: relays))
                }
            }
            .connect(host: to.host, port: to.port)
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let channel):
                    guard let serverEnd = try? channel.pipeline.syncOperations.handler(type: RelayHandler.self) else {
                        channel.close(promise: nil)
                        return
                    }
                    let server = Endpoint(channel.remoteAddress)
                    let recording = QueuedRecording(
                        queue, connection: queue.open(client: clientAddress, server: server))
                    RelayHandler.join(clientEnd.value, serverEnd, recording: recording)
                case .failure(let error):
                    let server = Self.endpoint(of: error, to)
                    let detail = "cannot reach \(to): \(Self.cause(of: error))"
                    if !relays.isStopping {
                        queue.refuse(client: clientAddress, server: server, reason: .connectFailed, detail: detail)
                    }
                    clientEnd.value.refuse()
                }
            }
    }

    /// The address that could not be reached, where there was one.
    private static func endpoint(of error: any Error, _ to: HostPort) -> Endpoint {
        if let failed = error as? NIOConnectionError, let first = failed.connectionErrors.first {
            return Endpoint(first.target)
        }
        return Endpoint(try? SocketAddress(ipAddress: to.host, port: to.port))
    }

    /// What the system said, in words.
    package static func cause(of error: any Error) -> String {
        if let failed = error as? NIOConnectionError {
            if let first = failed.connectionErrors.first { return cause(of: first.error) }
            return failed.dnsAError != nil || failed.dnsAAAAError != nil ? "no address for \(failed.host)" : "\(failed)"
        }
        if let system = error as? IOError { return String(cString: strerror(system.errnoCode)) }
        if case .connectTimeout(let amount)? = error as? ChannelError {
            return "no answer within \(amount.nanoseconds / 1_000_000) ms"
        }
        return "\(error)"
    }
}

/// Notes what happens on one connection in the queue.
private final class QueuedRecording: RelayRecording {
    private let queue: RecordingQueue
    private let connection: Int

    init(_ queue: RecordingQueue, connection: Int) {
        self.queue = queue
        self.connection = connection
    }

    func received(_ buffer: ByteBuffer, from direction: Direction) {
        queue.receive(buffer, on: connection, from: direction)
    }

    func finished(_ ending: Ending, from direction: Direction) {
        queue.finish(ending, on: connection, from: direction)
    }
}
