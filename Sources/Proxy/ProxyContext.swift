import NIOCore
import NIOPosix
import Streams
import Synchronization

/// State shared by all clients of a proxy.
final class ProxyContext: Sendable {
    let options: ProxyOptions
    let queue: RecordingQueue
    /// Where the ciphertext of decrypted connections is recorded; nil: it is not.
    let ciphertext: RecordingQueue?
    let relays = OpenRelays()
    let own: OwnAddresses
    let connector: any ServerConnecting
    /// The original destination of a redirected client.
    let destination: @Sendable (any Channel) -> EventLoopFuture<SocketAddress>
    private let counts = Mutex(Counts())
    /// The TLS contexts of each event loop.
    private let contexts = Mutex<[ObjectIdentifier: TLSContexts]>([:])
    /// The Unix sockets of servers, and then those of listeners; the index of each gives the port that represents it.
    private let unixPaths: [String]

    private struct Counts {
        var clients = 0
        var refused = 0
        var unixClients = 0
    }

    /// - Parameters:
    ///   - connector: connects to servers.
    ///   - destination: the original destination of a redirected client.
    init(
        _ options: ProxyOptions, queue: RecordingQueue, ciphertext: RecordingQueue? = nil,
        connector: any ServerConnecting, own: OwnAddresses,
        destination: @escaping @Sendable (any Channel) -> EventLoopFuture<SocketAddress> = OriginalDestination.of
    ) {
        self.options = options
        self.queue = queue
        self.ciphertext = ciphertext
        self.own = own
        self.destination = destination
        self.connector = connector
        let servers = options.listeners.map { listener -> Place? in
            if case .fixed(let place) = listener.server { place } else { nil }
        }
        unixPaths = (servers + options.listeners.map(\.listen)).reduce(into: []) { paths, place in
            if case .unix(let path)? = place, !paths.contains(path) { paths.append(path) }
        }
    }

    /// Serves a client that was just accepted.
    ///
    /// - Parameter managed: its listener, if that was opened while the proxy runs.
    func serve(_ channel: any Channel, at listener: Listener, managed: ManagedListener? = nil) throws {
        relays.add(channel)
        managed?.accepted(channel)
        let entry = EntryHandler(channel, at: listener, of: self, managed)
        try channel.pipeline.syncOperations.addHandler(entry)
        entry.begin()
    }

    /// The layers that a client of a listener passes through before it is relayed, in order.
    func layers(of listener: Listener) -> [any EntryLayer] {
        var layers: [any EntryLayer] = options.proxyProtocol.isExpected ? [ReceivedHeaderLayer()] : []
        switch listener.server {
        case .fixed(let place): layers.append(FixedServerLayer(server: place))
        case .chosen(let choice): layers.append(choice.layer())
        }
        if let version = options.proxyProtocol.sent { layers.append(SentHeaderLayer(version: version)) }
        if options.tls.mode != .pass { layers.append(TLSLayer(options.tls)) }
        return layers
    }

    /// The TLS contexts of an event loop.
    func tlsContexts(of loop: any EventLoop) -> TLSContexts {
        contexts.withLock { contexts in
            if let known = contexts[ObjectIdentifier(loop)] { return known }
            let made = TLSContexts(options.tls)
            contexts[ObjectIdentifier(loop)] = made
            return made
        }
    }

    // MARK: Admission

    /// Counts a client until it is gone. Returns false if the maximum is reached.
    func admit(_ channel: any Channel) -> Bool {
        let isAdmitted = counts.withLock { counts in
            if let limit = options.maxConnections, counts.clients >= limit {
                counts.refused += 1
                return false
            }
            counts.clients += 1
            return true
        }
        if isAdmitted { channel.closeFuture.whenComplete { _ in self.counts.withLock { $0.clients -= 1 } } }
        return isAdmitted
    }

    /// How many clients were refused because the limit was reached.
    var refused: Int { counts.withLock { $0.refused } }

    /// Why a client above the limit is refused.
    var limitText: String { "\(options.maxConnections ?? 0) connections are open, which is the limit" }

    /// Whether a client is this proxy, redirected back by a firewall: if so, the original destination is known.
    func isItself(_ client: any Channel) -> EventLoopFuture<Bool> {
        let end = Endpoint(client.remoteAddress)
        guard client.remoteAddress?.protocol != .unix else { return client.eventLoop.makeSucceededFuture(false) }
        guard own.isBeginning else { return isItself(client, end) }
        let known = client.eventLoop.makePromise(of: Void.self)
        own.whenBegun { known.succeed() }
        return known.futureResult.flatMap { self.isItself(client, end) }
    }

    private func isItself(_ client: any Channel, _ end: Endpoint) -> EventLoopFuture<Bool> {
        guard own.hasEnd(end) else { return client.eventLoop.makeSucceededFuture(false) }
        return destination(client).map { self.own.hasConnection(from: end, to: Endpoint($0)) }
            .flatMapErrorThrowing { _ in false }
    }

    // MARK: Names of connection ends

    /// The address that represents Unix sockets: an address of this machine that nothing else uses, so that connections differ.
    private static let unixAddress = IPAddress(v4: 0x7f55_4e58)  // 127.85.78.88

    /// Whether an endpoint merely represents a Unix socket.
    func isMadeUp(_ endpoint: Endpoint) -> Bool { endpoint.address == Self.unixAddress }

    /// The address of a client; for a Unix socket, the port is a counter.
    func endpoint(ofClient channel: any Channel) -> Endpoint {
        guard case .unixDomainSocket? = channel.remoteAddress else { return Endpoint(channel.remoteAddress).unmapped }
        return endpointOfUnixClient()
    }

    private func endpointOfUnixClient() -> Endpoint {
        let number = counts.withLock { counts in
            counts.unixClients += 1
            return counts.unixClients
        }
        return Endpoint(Self.unixAddress, UInt16(1_024 + (number - 1) % (65_536 - 1_024)))
    }

    /// The address of a server; the first Unix socket has port 1, the second one 2.
    func endpoint(ofServer channel: any Channel, at place: Place) -> Endpoint {
        if case .unix(let path) = place { return endpoint(ofUnixServer: path) }
        return Endpoint(remoteAddress(of: channel)).unmapped
    }

    /// The address of a socket's other end, even if that has reset the connection.
    private func remoteAddress(of channel: any Channel) -> SocketAddress? {
        channel.remoteAddress ?? (try? channel.pipeline.syncOperations.handler(type: ResetPeer.self))?.address
    }

    /// Both ends of a socket, the one that connected first. For a Unix socket, the port of that one is a counter.
    func ends(of channel: any Channel, on leg: TLSRequest.Leg) -> (client: Endpoint, server: Endpoint) {
        let (near, far) = (channel.localAddress, remoteAddress(of: channel))
        let server = leg == .client ? near : far
        if case .unixDomainSocket? = server {
            return (endpointOfUnixClient(), endpoint(ofUnixServer: server?.pathname ?? ""))
        }
        return (Endpoint(leg == .client ? far : near).unmapped, Endpoint(server).unmapped)
    }

    /// The address of a server that was not reached.
    func endpoint(ofMissed place: Place, at address: SocketAddress?) -> Endpoint {
        switch place {
        case .unix(let path): return endpoint(ofUnixServer: path)
        case .tcp(let place):
            let literal = try? SocketAddress(ipAddress: place.host, port: place.port)
            if let address = address ?? literal { return Endpoint(address).unmapped }
            return Endpoint(IPAddress(v4: 0), UInt16(truncatingIfNeeded: place.port))
        }
    }

    private func endpoint(ofUnixServer path: String) -> Endpoint {
        Endpoint(Self.unixAddress, UInt16(truncatingIfNeeded: (unixPaths.firstIndex(of: path) ?? 0) + 1))
    }
}
