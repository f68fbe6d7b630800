import NIOCore
import NIOPosix
import Streams

/// Connects to servers.
protocol ServerConnecting: Sendable {
    /// Connects to a destination, trying each of its addresses; fails with a `ConnectFailure`.
    ///
    /// - Parameters:
    ///   - loop: the event loop of the connection.
    ///   - initialize: prepares each channel that is tried.
    func connect(
        to place: Place, on loop: any EventLoop,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel>
}

/// Connects to servers through the system's sockets.
struct Connector: ServerConnecting {
    let own: OwnAddresses
    let names: NameResolution
    let options: ProxyOptions

    func connect(
        to place: Place, on loop: any EventLoop,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        // The limit covers resolving and connecting together.
        let amount = TimeAmount.nanoseconds(Int64(options.connectTimeout * 1e9))
        @Sendable func bootstrap(within amount: TimeAmount) -> ClientBootstrap {
            ClientBootstrap(group: loop).connectTimeout(amount)
                .channelInitializer { channel in channel.eventLoop.makeCompletedFuture { try initialize(channel) } }
        }
        let connected: EventLoopFuture<any Channel>
        switch place {
        case .unix(let path):
            connected =
                own.containsPath(path)
                ? loop.makeFailedFuture(Self.loop(to: place))
                : ProxyOptions.setOptions(of: bootstrap(within: amount)).connect(unixDomainSocketPath: path)
        case .tcp(let address):
            let deadline = NIODeadline.now() + amount
            let early = EarlyReset.Found(on: loop)
            connected = lookUp(address, on: loop, within: amount).flatMapThrowing { addresses in
                let others = addresses.filter { !own.contains($0) }
                guard !others.isEmpty else { throw Self.loop(to: place) }
                return others
            }.flatMap { addresses in
                // Never zero: addresses that were resolved in time must be tried.
                let rest = max(deadline - .now(), .milliseconds(50))
                return options.setTCPOptions(of: bootstrap(within: rest))
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try initialize(channel)
                            try channel.pipeline.syncOperations.addHandler(EarlyReset(early), position: .first)
                        }
                    }
                    .resolver(KnownAddresses(addresses: addresses, loop: loop))
                    .connect(host: address.host, port: address.port)
            }.flatMap { channel in
                // Another address is connected.
                early.take()?.close()
                return loop.makeSucceededFuture(channel)
            }.flatMapError { error in
                guard let reset = early.take() else { return loop.makeFailedFuture(error) }
                return reset.channel(on: loop, initialize: initialize).flatMapErrorThrowing { _ in throw error }
            }
        }
        return connected.flatMapErrorThrowing { error in
            // The error names the requested timeout, not the time that resolving had left of it.
            if case .connectTimeout? = error as? ChannelError {
                throw ConnectFailure(ChannelError.connectTimeout(amount))
            }
            throw ConnectFailure(error)
        }
    }

    private static func loop(to place: Place) -> ConnectFailure {
        ConnectFailure(cause: "that is this proxy itself", reply: .notAllowed)
    }

    /// Resolves a name, and gives up after a time; the system may continue resolving.
    private func lookUp(
        _ address: HostPort, on loop: any EventLoop, within amount: TimeAmount
    ) -> EventLoopFuture<[SocketAddress]> {
        let promise = loop.makePromise(of: [SocketAddress].self)
        let patience = loop.scheduleTask(in: amount) {
            promise.fail(EntryFault("no address for \(address.host) within \(amount.nanoseconds / 1_000_000) ms"))
        }
        names.addresses(of: address, on: loop).whenComplete { result in
            patience.cancel()
            promise.completeWith(result)
        }
        return promise.futureResult
    }
}
