import Interception
import NIOCore
import NIOPosix
import Platform
import Streams
import Synchronization

/// The proxy: accepts clients, connects each to its server, and relays.
package final class ProxyServer: Sendable {
    private let context: ProxyContext
    private let group: MultiThreadedEventLoopGroup
    private let names: NIOThreadPool
    private let bound = Mutex<[BoundListener]>([])
    /// Listeners that were opened while the proxy runs.
    private let opened = Mutex<[WeakListener]>([])

    private struct WeakListener: Sendable {
        weak var listener: ManagedListener?
    }

    private struct BoundListener: Sendable {
        var channel: any Channel
        var file: UnixSocketFile?
    }

    /// Why the proxy cannot listen on an address.
    package struct ListenFailure: Error, CustomStringConvertible {
        /// The address, and the cause in words.
        package var description: String
    }

    /// As many event loops as this process may use processor cores.
    package static var usualThreads: Int { System.coreCount }

    /// A proxy that does not listen yet.
    ///
    /// - Parameters:
    ///   - queue: where relayed data is recorded.
    ///   - ciphertext: where the ciphertext of decrypted connections is recorded; nil: it is not.
    ///   - threads: how many event loops there are; both ends of a connection are on one.
    package init(
        _ options: ProxyOptions, queue: RecordingQueue, ciphertext: RecordingQueue? = nil, threads: Int = 1
    ) {
        names = NIOThreadPool(numberOfThreads: 4)
        let own = OwnAddresses()
        context = ProxyContext(
            options, queue: queue, ciphertext: ciphertext,
            connector: Connector(own: own, names: NameResolution(threads: names), options: options), own: own)
        group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
    }

    /// The listener's handle, if its connections are sent commands: what makes its stages is set there.
    package typealias Managing = (_ listener: Listener) -> ManagedListener?

    /// A handle for a listener of `start`.
    ///
    /// - Parameter stages: makes the stages of a connection, by its number and its server.
    package static func managing(stages: @escaping @Sendable (Int, Endpoint) -> StageChain?) -> ManagedListener {
        ManagedListener(stages: stages)
    }

    /// Binds every listener, and begins to accept clients.
    ///
    /// - Parameter managing: makes the handle of a listener whose connections are sent commands; nil: they are not.
    /// - Returns: the addresses it listens on, in the order of the listeners.
    package func start(managing: Managing? = nil) throws -> [Place] {
        if context.options.tls.mode != .pass {
            do throws(TLSFault) {
                try TLSContexts.check(context.options.tls)
            } catch {
                throw ListenFailure(description: error.text)
            }
        }
        names.start()
        do {
            return try context.options.listeners.map { listener in
                try listening(at: listener, managing?(listener)) { try $0.bind(to: $1).wait() }
            }
        } catch {
            stopListening()
            throw error
        }
    }

    /// `start` without blocking the thread.
    package func startListening() async throws -> [Place] {
        try await NIOThreadPool.singleton.runIfActive { try self.start() }
    }

    private func listening(
        at listener: Listener, _ managed: ManagedListener?,
        _ bind: (ServerBootstrap, SocketAddress) throws -> any Channel
    ) throws -> Place {
        do {
            var file: UnixSocketFile?
            let address: SocketAddress
            switch listener.listen {
            case .tcp(let place): address = try SocketAddress.makeAddressResolvingHost(place.host, port: place.port)
            case .unix(let path):
                file = try UnixSocketFile(clearing: path)
                address = try SocketAddress(unixDomainSocketPath: path)
            }
            // No one else may connect to a Unix socket, not even before its mode is set.
            let mask = file == nil ? nil : umask(0o177)
            defer { if let mask { _ = umask(mask) } }
            let channel = try bind(bootstrap(for: listener, managed), address)
            file?.bound()
            bound.withLock { $0.append(BoundListener(channel: channel, file: file)) }
            guard let local = channel.localAddress, file == nil else {
                context.own.listens(at: address)
                return listener.listen
            }
            context.own.listens(at: local)
            return .tcp(HostPort(host: local.ipAddress ?? "", port: local.port ?? 0))
        } catch {
            throw ListenFailure(description: "cannot listen on \(listener.listen): \(ConnectFailure.cause(of: error))")
        }
    }

    /// Opens another listener while the proxy runs.
    ///
    /// - Parameters:
    ///   - address: where it listens; port 0 lets the system choose.
    ///   - server: where its clients are connected to.
    ///   - stages: makes the stages of a connection, by its number.
    package func open(
        _ address: HostPort, to server: HostPort, stages: @escaping @Sendable (Int) -> StageChain?
    ) async throws -> ManagedListener {
        let context = context
        let listener = Listener(listen: .tcp(address), server: .fixed(.tcp(server)))
        let managed = ManagedListener { connection, _ in stages(connection) }
        do {
            let place = try await NIOThreadPool.singleton.runIfActive {
                try SocketAddress.makeAddressResolvingHost(address.host, port: address.port)
            }
            let bootstrap = ServerBootstrap(group: group)
                .serverChannelOption(.backlog, value: 1_024)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try context.serve(channel, at: listener, managed: managed)
                    }
                }
            let channel = try await context.options.setTCPOptions(of: bootstrap).bind(to: place).get()
            let local = channel.localAddress ?? place
            context.own.listens(at: local)
            managed.bound(
                channel, at: HostPort(host: local.ipAddress ?? address.host, port: local.port ?? address.port)
            ) { context.own.stopsListening(at: local) }
            opened.withLock { $0.append(WeakListener(listener: managed)) }
            return managed
        } catch {
            throw ListenFailure(description: "cannot listen on \(address): \(ConnectFailure.cause(of: error))")
        }
    }

    private func bootstrap(for listener: Listener, _ managed: ManagedListener?) -> ServerBootstrap {
        let context = context
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1_024)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try context.serve(channel, at: listener, managed: managed) }
            }
        return if case .tcp = listener.listen {
            context.options.setTCPOptions(of: bootstrap.serverChannelOption(.socketOption(.so_reuseaddr), value: 1))
        } else {
            ProxyOptions.setOptions(of: bootstrap)
        }
    }

    /// Returns when everything that has been relayed so far is recorded, and in the trace and the capture.
    package func waitForRecorder() async {
        await withCheckedContinuation { continuation in
            context.queue.whenRecorded { continuation.resume() }
        }
    }

    /// No client may be connected to an address of this program's own, whatever notation it uses: SOCKS and transparent listeners
    /// refuse it.
    package func protect(_ place: HostPort) {
        if let address = try? SocketAddress(ipAddress: place.host, port: place.port) {
            context.own.listens(at: address)
        }
    }

    /// How many clients were refused because the limit was reached.
    package var refused: Int { context.refused }

    /// Stops accepting clients; open connections stay open until `shutDown`.
    package func stopListening() {
        let listeners = bound.withLock { bound in
            defer { bound = [] }
            return bound
        }
        for listener in listeners {
            listener.channel.close(promise: nil)
            listener.file?.remove()
        }
        for entry in opened.withLock({ $0 }) { entry.listener?.stopListening() }
    }

    /// Waits until all open connections have ended by themselves, but no longer than the given number of seconds.
    ///
    /// - Returns: whether all connections have ended.
    package func drained(within seconds: Double) async throws -> Bool {
        try await emptied(within: seconds).get()
    }

    /// `drained`, blocking the thread.
    package func drain(within seconds: Double) throws -> Bool {
        try emptied(within: seconds).wait()
    }

    private func emptied(within seconds: Double) -> EventLoopFuture<Bool> {
        context.relays.isEmpty(within: .nanoseconds(Int64(seconds * 1e9)), on: group.any())
    }

    /// Closes everything. Neither side has ended the connections that are still open, and they are recorded as such. Both sides
    /// see a reset: the data they received may be incomplete.
    package func shutDown() throws {
        stopListening()
        context.queue.releaseRelay()
        context.relays.stop()
        names.shutdownGracefully { _ in }
        try group.syncShutdownGracefully()
    }

    /// `shutDown` without blocking the thread.
    package func close() async throws {
        stopListening()
        context.queue.releaseRelay()
        context.relays.stop()
        names.shutdownGracefully { _ in }
        try await group.shutdownGracefully()
    }
}
