import Interception
import NIOCore
import NIOPosix
import Streams

/// Performs on a client's channel the actions of its entry layers, until the client is joined with a server or rejected.
///
/// It lives on the client's event loop, which the server's side shares. Bytes and an end that arrive from the client before it is
/// joined are held here: closing a channel removes its handlers in any state, and the relay must still be notified.
final class EntryHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let channel: any Channel
    private let proxy: ProxyContext
    /// How many bytes of its own the proxy has sent: the client's answers of SOCKS, the server's PROXY header.
    private var sentBytes = PerDirection(fromClient: 0, fromServer: 0)
    private let isUnix: Bool
    private let managed: ManagedListener?
    private var stack: EntryStack
    private var context: ChannelHandlerContext?
    private var patience: Scheduled<Void>?
    /// When a layer is to be woken.
    private var wake: Scheduled<Void>?
    private var server: (any Channel)?
    /// The handlers of both sides' TLS, if it is decrypted here.
    private var clientTLS: (wire: TLSWire, edge: TLSEdge)?
    private var serverTLS: (wire: TLSWire, edge: TLSEdge)?
    private var place: (place: Place, address: SocketAddress?)?
    /// What the client's end of the relay must be notified of once it exists.
    private var ends = RelayHandler.EarlyEnds()
    /// What a client that has ended already had sent: the system delivers it unasked, before the layers have begun.
    private var early = ByteBuffer()
    private var state = State.admitting

    private enum State {
        /// Nothing is asked for before the layers have begun.
        case admitting
        case entering
        /// Input is discarded until the client has been sent the reason.
        case dismissed
        case over
    }

    init(
        _ channel: any Channel, at listener: Listener, of proxy: ProxyContext, _ managed: ManagedListener? = nil
    ) {
        self.managed = managed
        self.channel = channel
        self.proxy = proxy
        isUnix = listener.listen.isUnix
        // A closed channel no longer knows its address.
        let client = proxy.endpoint(ofClient: channel)
        let connection = EntryConnection(
            client: client, reached: Endpoint(channel.localAddress), isUnixClient: proxy.isMadeUp(client))
        let milliseconds = Int64(proxy.options.connectTimeout * 1_000)
        stack = EntryStack(proxy.layers(of: listener), of: connection, patience: "\(milliseconds) ms")
    }

    /// Begins to serve a client that was just accepted.
    func begin() {
        guard proxy.admit(channel) else {
            refuse(.refusedByLimit, at: Endpoint(IPAddress(v4: 0), 0), detail: proxy.limitText)
            state = .over
            context?.reset()
            return
        }
        proxy.isItself(channel).assumeIsolated().whenSuccess { self.enter(isItself: $0) }
    }

    /// The layers begin, with what the client has done meanwhile.
    private func enter(isItself: Bool) {
        // A command may have come first.
        guard state == .admitting else { return }
        state = .entering
        let early = early
        self.early = ByteBuffer()
        if isItself { return perform([.close(Self.loopFault, isOrderly: false)]) }
        if stack.awaitsClient {
            let amount = TimeAmount.nanoseconds(Int64(proxy.options.connectTimeout * 1e9))
            patience = channel.eventLoop.assumeIsolated().scheduleTask(in: amount) {
                self.perform(self.stack.expire())
            }
        }
        perform(stack.begin(with: early))
        if ends.hasInputEnded || ends.isInactive { takeEnd() }
    }

    /// The client sent FIN, or its connection is gone. Layers that have not begun are notified when they have.
    private func takeEnd() {
        if state == .entering { perform(stack.take(.ended)) }
    }

    private static let loopFault = EntryFault(
        "this is the proxy's own connection, which a firewall rule brought back: exempt the proxy from redirection")

    // MARK: What the client does

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        if state != .entering { wake?.cancel() }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        readIfNeeded()
    }

    /// Before there is a server, only what the layers need is read. TLS below does not ask again for what it keeps for itself.
    func read(context: ChannelHandlerContext) {
        switch state {
        case .admitting: break
        case .entering: if stack.needsBytes { context.read() }
        case .dismissed, .over: context.read()
        }
    }

    private func readIfNeeded() {
        guard state == .entering, stack.needsBytes, let context, context.channel.isActive else { return }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch state {
        case .admitting: early.writeBuffer(&bytes)
        case .entering: perform(stack.receive(bytes))
        case .dismissed, .over: break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        readIfNeeded()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        ends.hasInputEnded = true
        if state == .dismissed { return context.close(promise: nil) }
        takeEnd()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        ends.isLost = true
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        ends.isInactive = true
        takeEnd()
        // A handshake with the server alone is of no use.
        if state == .entering, serverTLS != nil, clientTLS == nil {
            let text = "the client closed the connection during the handshake"
            perform([.close(EntryFault(text, .tlsFailed, by: .fromClient), isOrderly: false)])
        }
    }

    // MARK: Actions of the layers

    private func perform(_ actions: [EntryAction]) {
        for action in actions where state == .entering {
            switch action {
            case .sendToClient(let bytes):
                sentBytes.fromServer += bytes.count
                context?.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            case .sendToServer(let bytes):
                sentBytes.fromClient += bytes.count
                // Servers that speak first wait for it.
                server?.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            case .findDestination: findDestination()
            case .connect(let place, let address): connect(to: place, address: address)
            case .watchServer: serverEnd?.readEarly { self.perform(self.stack.take(.serverSpoke)) }
            case .wake(let amount):
                wake?.cancel()
                wake = channel.eventLoop.assumeIsolated().scheduleTask(in: amount) {
                    self.perform(self.stack.take(.woke))
                }
            case .secure(let request): secure(request)
            case .done: join()
            case .close(let fault, let isOrderly): close(fault, isOrderly: isOrderly)
            }
        }
        if !stack.awaitsClient {
            patience?.cancel()
            patience = nil
        }
        readIfNeeded()
    }

    private func findDestination() {
        proxy.destination(channel).assumeIsolated().whenComplete { result in
            let destination = result.mapError { error in
                error as? EntryFault
                    ?? EntryFault("no firewall rule redirected this client here (\(ConnectFailure.cause(of: error)))")
            }
            self.perform(self.stack.take(.destination(destination)))
        }
    }

    private func connect(to place: Place, address: SocketAddress?) {
        self.place = (place, address)
        let (relays, own) = (proxy.relays, proxy.own)
        let options = proxy.options
        proxy.connector.connect(to: place, on: channel.eventLoop) { server in
            relays.add(server)
            try server.pipeline.syncOperations.addHandlers(
                OutgoingWatch(own),
                RelayHandler(reading: .fromServer, isUnix: place.isUnix, relays: relays, options: options))
        }.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let server):
                guard self.state == .entering else { return server.close(promise: nil) }
                self.server = server
                self.perform(self.stack.take(.connected(bound: server.localAddress)))
            case .failure(let error):
                let failure = ConnectFailure(error)
                self.place?.address = failure.first ?? address
                self.perform(self.stack.take(.unreachable(place, failure)))
            }
        }
    }

    /// The server's end of the relay; nil before it is connected, and after it is gone.
    private var serverEnd: RelayHandler? {
        try? server?.pipeline.syncOperations.handler(type: RelayHandler.self)
    }

    // MARK: TLS

    /// Puts TLS on a socket, below everything else there.
    private func secure(_ request: TLSRequest) {
        let leg = request.leg
        func finish(_ result: Result<TLSOutcome, TLSFault>) { perform(stack.take(result, on: leg)) }
        do {
            switch leg {
            case .server:
                guard let server, let serverEnd, !serverEnd.hasInputEnded else {
                    throw TLSFault(text: "the server closed the connection before the handshake")
                }
                serverEnd.readEarly {}
                let (wire, edge) = try proxy.secure(server, request, finish)
                serverEnd.secured(by: wire, edge)
                serverTLS = (wire, edge)
            case .client:
                guard channel.isActive else {
                    return finish(.failure(TLSFault(text: "the client closed the connection")))
                }
                let unread = stack.takeUnread()
                let tls = try proxy.secure(channel, request, finish)
                clientTLS = tls
                // The hello that was read already.
                tls.wire.begin(with: unread)
            }
        } catch {
            finish(.failure(TLSFault(beforehand: error)))
        }
    }

    /// The client and its server are joined; early bytes go first.
    private func join() {
        guard let server, let place, let serverEnd else {
            // A server of TLS 1.3 may refuse when the handshake is over for its client.
            let fault = serverTLS?.edge.fault
            return close(
                EntryFault(
                    fault?.text ?? "the server closed the connection before it was relayed",
                    fault == nil ? .connectFailed : .tlsFailed), isOrderly: false)
        }
        state = .over
        let clientEnd = RelayHandler(reading: .fromClient, isUnix: isUnix, relays: proxy.relays, options: proxy.options)
        if let clientTLS { clientEnd.secured(by: clientTLS.wire, clientTLS.edge) }
        if let context {
            try? context.pipeline.syncOperations.addHandler(clientEnd, position: .after(self))
            context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        }
        (clientEnd.sentBytes, serverEnd.sentBytes) = (sentBytes.fromServer, sentBytes.fromClient)
        let (connection, stages, recording) = record(stack.connection.client, server, at: place.place)
        let options = proxy.options.tls
        if options.mode == .intercept, clientTLS == nil, serverTLS == nil,
            let framing = options.upgrading.flatMap({ UpgradeFraming($0) })
        {
            // What was read before has to be framed, too.
            let (early, greeting) = (stack.takeUnread(), serverEnd.takeEarly())
            clientEnd.wire = proxy.wire(on: channel, of: .client, early: early)
            serverEnd.wire = proxy.wire(on: server, of: .server, early: greeting)
            RelayHandler.join(
                clientEnd, serverEnd, recording: recording, stages: stages, early: ByteBuffer(),
                RelayHandler.EarlyEnds())
            clientEnd.prepareUpgrade(framing, proxy, stack.connection)
            if greeting.readableBytes > 0 { serverEnd.receive(greeting) }
            if early.readableBytes > 0 { clientEnd.receive(early) }
            serverEnd.flush()
            clientEnd.flush()
            clientEnd.take(ends)
            managed?.relayed(connection, clientEnd.stages, by: channel)
            return
        }
        RelayHandler.join(
            clientEnd, serverEnd, recording: recording, stages: stages, early: stack.takeUnread(), ends)
        managed?.relayed(connection, clientEnd.stages, by: channel)
    }

    /// Records the connection from now on, and what its stages pass on, if it has any.
    private func record(
        _ client: Endpoint, _ server: any Channel, at place: Place
    ) -> (connection: Int, stages: StageChain?, recording: QueuedRecording) {
        let queue = proxy.queue
        let endpoint = proxy.endpoint(ofServer: server, at: place)
        return queue.reserve { number in
            let stages =
                managed.map { $0.stages(of: number, to: endpoint) } ?? proxy.options.stages?(number, endpoint)
            let leg: Leg? = stages == nil ? nil : .in
            let connection = queue.open(
                number, leg: leg, client: client, server: endpoint, tls: stack.connection.tls)
            let passedOn = leg.map { _ in queue.openPassedOn(of: connection, client: client, server: endpoint) }
            return (
                number, stages,
                QueuedRecording(queue, connection: connection, passedOn: passedOn, on: channel.eventLoop)
            )
        }
    }

    // MARK: Failing to connect

    /// A command closes the listener: the client is not connected any more, and that is neither side's doing.
    func endByCommand() {
        patience?.cancel()
        patience = nil
        switch state {
        case .admitting, .entering: close(EntryFault("the listener was closed by a command", .rule), isOrderly: false)
        case .dismissed, .over: context?.reset()
        }
    }

    private func close(_ fault: EntryFault, isOrderly: Bool) {
        let known = self.server.flatMap { server in place.map { proxy.endpoint(ofServer: server, at: $0.place) } }
        let missed = place.map { proxy.endpoint(ofMissed: $0.place, at: $0.address) }
        refuse(
            fault.reason, at: known ?? missed ?? Endpoint(IPAddress(v4: 0), 0), by: fault.side,
            detail: fault.description)
        self.server?.close(promise: nil)
        guard isOrderly else {
            state = .over
            clientTLS?.wire.willReset()
            (clientTLS?.wire.context ?? context)?.reset()
            return
        }
        state = .dismissed
        guard let context else { return }
        // Whether or not the client has ended already: it may never read what was sent.
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(2)) { [weak self] in self?.context?.reset() }
        let isEnded = ends.hasInputEnded
        context.whenFlushed { [weak self] in
            self?.context?.close(mode: isEnded ? .all : .output, promise: nil)
        }
        if !isEnded { context.read() }
    }

    private func refuse(
        _ reason: CloseReason, at server: Endpoint, by side: Direction = .fromServer, detail: String
    ) {
        guard !proxy.relays.isStopping else { return }
        proxy.queue.refuse(
            client: stack.connection.client, server: server, reason: reason, by: side, detail: detail)
    }
}
