import NIOCore
import NIOPosix
import Streams

/// One client on its way in: from being accepted to being joined with its server, or to being sent away.
///
/// It lives on the client's event loop, which the server's side shares.
final class ClientEntry {
    private let channel: any Channel
    private let end: RelayHandler
    private let entrance: Entrance
    private let proxy: ProxyContext
    /// The client's address, as the socket has it or a PROXY header names it.
    private var client: Endpoint
    /// The address that the client connected to.
    private var reached: Endpoint
    private var patience: Scheduled<Void>?
    private var isOver = false

    init(_ channel: any Channel, _ end: RelayHandler, at entrance: Entrance, of proxy: ProxyContext) {
        self.channel = channel
        self.end = end
        self.entrance = entrance
        self.proxy = proxy
        // A closed channel does not know its address any more.
        client = proxy.endpoint(ofClient: channel)
        reached = Endpoint(channel.localAddress)
    }

    /// Begins to serve a client that was just accepted.
    func begin() {
        guard proxy.admit(channel) else {
            refuse(.refusedByLimit, at: Endpoint(IPAddress(v4: 0), 0), detail: proxy.limitText)
            return end.refuse()
        }
        proxy.isItself(channel).assumeIsolated().whenSuccess { isItself in
            if isItself { return self.fail(Self.loopFault) }
            do { try self.listen() } catch { self.fail(EntryFault("\(error)")) }
        }
    }

    /// Hears what the client has to say before it is connected.
    private func listen() throws {
        let amount = TimeAmount.nanoseconds(Int64(proxy.options.connectTimeout * 1e9))
        if proxy.options.proxyProtocol.isExpected || entrance.server == .socks5 {
            let milliseconds = amount.nanoseconds / 1_000_000
            patience = channel.eventLoop.assumeIsolated().scheduleTask(in: amount) {
                self.fail(EntryFault("the client did not say who it is or where it goes within \(milliseconds) ms"))
            }
        }
        guard proxy.options.proxyProtocol.isExpected else { return try findServer() }
        let header = ProxyHeaderHandler { self.take($0) }
        try channel.pipeline.syncOperations.addHandler(header, position: .first)
    }

    private static let loopFault = EntryFault(
        "this is the proxy's own connection, which a firewall rule brought back: exempt the proxy from redirection")

    private func take(_ result: Result<ProxyHeader, ProxyHeaderFault>) {
        switch result {
        case .failure(let fault): fail(EntryFault(fault.description))
        case .success(let header):
            if case .named(let client, let server) = header.origin { (self.client, reached) = (client, server) }
            do {
                try findServer()
                try removeHeaderHandler()
            } catch {
                fail(EntryFault("\(error)"))
            }
        }
    }

    /// What came behind the header is for whoever is next.
    private func removeHeaderHandler() throws {
        let pipeline = channel.pipeline.syncOperations
        let context = try pipeline.context(handlerType: ProxyHeaderHandler.self)
        pipeline.removeHandler(context: context, promise: nil)
    }

    // MARK: The server

    private func findServer() throws {
        switch entrance.server {
        case .fixed(let place):
            settle()
            connect(to: place, at: nil)
        case .transparent:
            settle()
            proxy.destination(channel).assumeIsolated().whenComplete { result in
                switch result {
                case .success(let address):
                    self.reached = Endpoint(address)
                    self.connect(
                        to: .tcp(HostPort(host: address.ipAddress ?? "", port: address.port ?? 0)), at: address)
                case .failure(let error):
                    let cause = ConnectFailure.cause(of: error)
                    self.fail(
                        error as? EntryFault ?? EntryFault("no firewall rule redirected this client here (\(cause))"))
                }
            }
        case .socks5:
            let socks = SOCKSEntrance()
            try socks.begin(in: channel, before: end) { [unowned socks] result in
                self.settle()
                switch result {
                case .success(let place): self.connect(to: .tcp(place), at: nil, socks: socks)
                case .failure(let fault): self.fail(fault, after: socks)
                }
            }
        }
    }

    /// The client has said what it had to say.
    private func settle() {
        patience?.cancel()
        patience = nil
    }

    private func connect(to place: Place, at address: SocketAddress?, socks: SOCKSEntrance? = nil) {
        let (relays, own, loop) = (proxy.relays, proxy.own, channel.eventLoop)
        let options = proxy.options
        proxy.connector.connect(to: place, on: loop) { server in
            relays.add(server)
            try server.pipeline.syncOperations.addHandlers(
                OutgoingWatch(own),
                RelayHandler(reading: .fromServer, isUnix: place.isUnix, relays: relays, options: options))
        }.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let server): self.connected(server, place, socks)
            case .failure(let error): self.missed(place, at: address, ConnectFailure(error), socks)
            }
        }
    }

    private func connected(_ server: any Channel, _ place: Place, _ socks: SOCKSEntrance?) {
        guard !isOver, let serverEnd = try? server.pipeline.syncOperations.handler(type: RelayHandler.self) else {
            server.close(promise: nil)
            return
        }
        isOver = true
        let connection = proxy.queue.open(client: client, server: proxy.endpoint(ofServer: server, at: place))
        let recording = QueuedRecording(proxy.queue, connection: connection, on: channel.eventLoop)
        if let version = proxy.options.proxyProtocol.sent {
            serverEnd.writeFirst(ProxyHeader(origin: origin(server)).bytes(version))
        }
        if let socks {
            // The answer goes before what the server says; what came behind the request is let through.
            socks.reply(.succeeded, bound: server.localAddress)
            socks.end()
        }
        RelayHandler.join(end, serverEnd, recording: recording)
    }

    /// Whose connection a server is told that this is.
    private func origin(_ server: any Channel) -> ProxyHeader.Origin {
        if reached.address.isUnspecified || client.address.isUnspecified || proxy.isMadeUp(client) {
            return .connection
        }
        return .named(client: client.unmapped, server: reached.unmapped)
    }

    // MARK: Not getting there

    private func missed(_ place: Place, at address: SocketAddress?, _ failure: ConnectFailure, _ socks: SOCKSEntrance?)
    {
        guard !isOver else { return }
        isOver = true
        let server = proxy.endpoint(ofMissed: place, at: failure.first ?? address)
        refuse(.connectFailed, at: server, detail: "cannot reach \(place): \(failure.cause)")
        guard let socks else { return end.refuse() }
        socks.reply(failure.reply, bound: nil)
        socks.end()
        end.dismiss()
    }

    /// Sends a client away that did not get as far as naming a server.
    private func fail(_ fault: EntryFault, after socks: SOCKSEntrance? = nil) {
        guard !isOver else { return }
        isOver = true
        settle()
        refuse(.connectFailed, at: Endpoint(IPAddress(v4: 0), 0), detail: fault.description)
        guard let socks else { return end.refuse() }
        socks.end()
        end.dismiss()
    }

    private func refuse(_ reason: CloseReason, at server: Endpoint, detail: String) {
        guard !proxy.relays.isStopping else { return }
        proxy.queue.refuse(client: client, server: server, reason: reason, detail: detail)
    }
}

/// Notes what happens on one connection in the queue.
private final class QueuedRecording: RelayRecording {
    private let queue: RecordingQueue
    private let connection: Int
    private let eventLoop: any EventLoop

    init(_ queue: RecordingQueue, connection: Int, on eventLoop: any EventLoop) {
        self.queue = queue
        self.connection = connection
        self.eventLoop = eventLoop
    }

    var hasRoom: Bool { queue.hasRoom }

    func whenThereIsRoom(_ resume: @escaping () -> Void) {
        let resume = NIOLoopBound(resume, eventLoop: eventLoop)
        queue.whenThereIsRoom { [eventLoop] in eventLoop.execute { resume.value() } }
    }

    func received(_ buffer: ByteBuffer, from direction: Direction) {
        queue.receive(buffer, on: connection, from: direction)
    }

    func held(_ isHeld: Bool, from direction: Direction) {
        queue.hold(isHeld, on: connection, from: direction)
    }

    func finished(_ ending: Ending, from direction: Direction) {
        queue.finish(ending, on: connection, from: direction)
    }

    func expired() {
        queue.expire(connection)
    }
}
