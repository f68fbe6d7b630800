import Framing
import Interception
import NIOCore
import Streams

/// One end of a relayed connection: bytes read here are written to the other end.
///
/// Both ends run on one event loop. Reading stops while the other end does not accept what was read. Bytes are forwarded first
/// and recorded after that. If there are stages, they decide what is written and when.
final class RelayHandler: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// State shared by both ends of a connection.
    final class Shared {
        var state = RelayState()
        let recording: any RelayRecording
        /// When a byte was last read; used only if there is an idle timeout.
        var lastRead: NIODeadline
        /// Where the connection changes to TLS; nil if it does not, or already has.
        var upgrade: RelayUpgrade?
        /// The stages that process the bytes on their way; nil if there are none.
        var stages: StageDriver?

        init(recording: any RelayRecording, now: NIODeadline) {
            (self.recording, lastRead) = (recording, now)
        }
    }

    static let allocator = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 262_144)

    private let direction: Direction
    private let relays: OpenRelays
    /// Of the proxy's options, which are large, those that matter here, in seconds.
    private let (idleTimeout, deliveryTimeout): (Double?, Double)
    private var shared: Shared?
    /// What performs the actions of the connection's stages; nil if it has none, or is not relayed.
    var stages: StageDriver? { shared?.stages }
    private var partner: RelayHandler?
    private(set) var context: ChannelHandlerContext?
    private var gate = ReadGate()
    private var state: EndState
    /// How long the other end has accepted nothing.
    private var heldReading: HeldReading?
    /// Whether this end is about to be reset.
    private var isEnding = false
    /// Whether the proxy ends the connection because of this end's TLS.
    private var isRefused = false
    /// Bytes that were read before there was a partner.
    private var early = ByteBuffer()
    /// Called with the first bytes that are read before there is a partner; nil: nothing is read before.
    private var whenEarly: (() -> Void)?
    /// The lowest handler, if there is one below TLS, or below what may become TLS.
    var wire: TLSWire?
    /// What ends TLS on this end, if it is decrypted here.
    private var tls: TLSEdge?

    /// - Parameters:
    ///   - direction: the direction of the bytes that are read here.
    ///   - isUnix: whether the socket is a Unix socket.
    ///   - relays: knows whether the proxy is being stopped.
    ///   - options: the proxy's options.
    init(reading direction: Direction, isUnix: Bool = false, relays: OpenRelays, options: ProxyOptions) {
        self.direction = direction
        state = EndState(isUnix: isUnix)
        self.relays = relays
        (idleTimeout, deliveryTimeout) = (options.idleTimeout, options.deliveryTimeout)
    }

    /// Joins two ends.
    ///
    /// - Parameters:
    ///   - stages: what processes the bytes on their way; nil: nothing does.
    ///   - early: the bytes that the client sent before; they are forwarded now.
    ///   - ends: how the client's side ended before.
    static func join(
        _ client: RelayHandler, _ server: RelayHandler, recording: any RelayRecording, stages: StageChain? = nil,
        early: ByteBuffer, _ ends: EarlyEnds
    ) {
        (client.whenEarly, server.whenEarly) = (nil, nil)
        let eventLoop = (client.context ?? server.context)?.eventLoop
        let shared = Shared(recording: recording, now: eventLoop?.now ?? .now())
        (client.shared, server.shared) = (shared, shared)
        (client.partner, server.partner) = (server, client)
        client.writeDirectly()
        server.writeDirectly()
        for end in [client, server] {
            guard let eventLoop = end.context?.eventLoop else { continue }
            let direction = end.direction
            // Its owner has `shared`, too. A weak reference would make counting all others slow.
            end.heldReading = HeldReading(on: eventLoop) { [unowned shared] isHeld in
                guard !shared.state.isOver else { return }
                shared.recording.held(isHeld, from: direction)
            }
        }
        if let eventLoop, let stages {
            shared.stages = StageDriver(
                stages, on: eventLoop, from: client, to: server, recording,
                deliveryTimeout: client.deliveryTimeout)
            shared.stages?.take(.began)
        }
        if early.readableBytes > 0 { client.forward(early) }
        let greeting = server.takeEarly()
        if greeting.readableBytes > 0 { server.forward(greeting) }
        server.flush()
        client.flush()
        client.take(ends)
        if server.state.hasInputEnded { server.endInput() }
        if server.state.isLost {
            server.reportFault()
            server.performLoss()
        }
        // Reads requested before there was a server did not happen. A channel that is still being registered would never carry
        // out a read: its own first one, once it is active, is taken then.
        for end in [client, server] {
            end.gate.want()
            if end.context?.channel.isActive == true { end.readIfWanted() }
        }
        if let limit = client.idleTimeout, let eventLoop {
            let watch = SilenceWatch(shared, limit: .nanoseconds(Int64(limit * 1e9)), on: eventLoop) {
                [weak client, weak server] in
                guard let client, !client.relays.isStopping else { return nil }
                return client.gate.waitsForRecorder || server?.gate.waitsForRecorder == true
            } expire: { [weak client] in
                guard let client else { return }
                client.perform(shared.state.expire())
            }
            watch.begin()
            watch.end(with: [client, server].compactMap { $0.context?.channel })
        }
    }

    /// Takes how this end has ended before it was joined.
    func take(_ ends: EarlyEnds) {
        if ends.hasInputEnded { endInput() }
        if ends.isLost { lose() } else if ends.isInactive { becameInactive() }
    }

    /// Whether the other program sent FIN.
    var hasInputEnded: Bool { state.hasInputEnded }

    // MARK: Reading

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        isWritable = context.channel.isWritable
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        (whenEarly, writing.transport) = (nil, nil)
        if !relays.isStopping { shared?.stages?.checkEnds() }
        if partner?.state.hasEnded == true { partner?.partner = nil }
        // An end that is gone may have to reset the other one later.
        if !state.hasEnded { partner = nil }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        receive(unwrapInboundIn(data))
    }

    /// Takes bytes that were read on this end.
    func receive(_ buffer: ByteBuffer) {
        if isRefused { return }
        if partner == nil, shared == nil { return holdEarly(buffer) }
        if let upgrade = shared?.upgrade { return forward(buffer, until: upgrade) }
        forward(buffer)
    }

    // MARK: Changing to TLS

    /// Lets a connection change to TLS where its format says so.
    func prepareUpgrade(_ framing: UpgradeFraming, _ proxy: ProxyContext, _ connection: EntryConnection) {
        guard let partner, let client = context?.channel, let server = partner.context?.channel else { return }
        // TLS comes between the handlers and their sockets.
        for end in [self, partner] { end.writing.transport = nil }
        let wires = (client: wire, server: partner.wire)
        shared?.upgrade = RelayUpgrade(framing, proxy, client: client, server: server, wires: wires, connection) {
            [weak self, weak partner] leg, wire, edge in
            (leg == .client ? self : partner)?.secured(by: wire, edge)
            // A handshake is read whatever the other side does.
            (leg == .client ? self : partner)?.context?.read()
        } whenDone: { [weak self] result in
            self?.finishUpgrade(result)
        }
    }

    private func forward(_ buffer: ByteBuffer, until upgrade: RelayUpgrade) {
        guard !upgrade.isAgreed else { return takeTLS(buffer, upgrade) }
        var rest = buffer
        for part in upgrade.take(buffer, from: direction) {
            switch part {
            case .plaintext(let count):
                if let piece = rest.readSlice(length: count) { forward(piece) }
            case .injected: return refuse(rest)
            case .tls: return takeTLS(rest, upgrade)
            }
        }
        // The answer has to be on its way before the client begins.
        if upgrade.isAgreed { partner?.flush() }
    }

    private func takeTLS(_ buffer: ByteBuffer, _ upgrade: RelayUpgrade) {
        if direction == .fromClient { return upgrade.receive(buffer) }
        guard tls != nil else {
            if buffer.withUnsafeReadableBytes({ TLSUpgradeWatch.mayBeginTLS($0.bytes) }) {
                shared?.recording.noticed(.tlsFault("the server began TLS before the client"), from: direction)
            }
            return refuse(buffer)
        }
        holdEarly(buffer)
    }

    /// Ends the connection because of plaintext that an attacker may have injected. It is recorded and not forwarded; decoding the
    /// recording reports it.
    private func refuse(_ plaintext: ByteBuffer) {
        if shared?.state.isOver == false { shared?.recording.received(plaintext, from: direction) }
        breakOff()
    }

    /// Both handshakes are done: the relay goes on with plaintext.
    private func finishUpgrade(_ result: Result<(early: ByteBuffer, facts: TLSFacts?), EntryFault>) {
        guard let shared, let partner else { return }
        shared.upgrade = nil
        switch result {
        case .success(let (early, facts)):
            if let facts { shared.recording.noticed(.tls(facts), from: .fromServer) }
            if early.readableBytes > 0 { forward(early) }
            let answers = partner.takeEarly()
            if answers.readableBytes > 0 { partner.forward(answers) }
            flush()
            partner.flush()
            for end in [self, partner] {
                end.gate.want()
                end.readIfWanted()
            }
        case .failure(let fault):
            let end = fault.side == direction ? self : partner
            shared.recording.noticed(.tlsFault(fault.description), from: fault.side)
            end.breakOff()
        }
    }

    /// Ends the connection because its TLS cannot begin.
    private func breakOff() {
        shared?.upgrade = nil
        isRefused = true
        lose()
        // The alert that says so has to arrive.
        end(.reset)
    }

    private func reset() {
        wire?.willReset()
        lowest?.reset()
    }

    // MARK: Before there is a partner

    /// Reads what this end sends, until `whenEarly` is called with its first bytes.
    func readEarly(whenEarly: @escaping () -> Void) {
        self.whenEarly = whenEarly
        // A server that has answered and is gone already may have no other moment.
        if early.readableBytes > 0 { return reportEarly() }
        if context?.channel.isActive == true { context?.read() }
    }

    /// Returns what was read before there was a partner.
    func takeEarly() -> ByteBuffer {
        defer { early = ByteBuffer() }
        return early
    }

    private func holdEarly(_ buffer: ByteBuffer) {
        var buffer = buffer
        early.writeBuffer(&buffer)
        reportEarly()
    }

    private func reportEarly() {
        let whenEarly = whenEarly
        self.whenEarly = nil
        whenEarly?()
    }

    /// TLS was put below this handler.
    func secured(by wire: TLSWire, _ edge: TLSEdge) {
        (self.wire, tls) = (wire, edge)
        // Whatever is written from now on has to be encrypted.
        writing.transport = nil
    }

    /// The context from which this end is closed: TLS would delay a reset, and add a close_notify to a FIN that came without.
    private var lowest: ChannelHandlerContext? { wire?.context ?? context }

    // MARK: Forwarding

    private func forward(_ buffer: ByteBuffer) {
        guard let partner, let shared else { return }
        if let stages = shared.stages {
            stages.take(buffer, from: direction, isRecorded: !shared.state.isOver)
        } else {
            partner.write(buffer)
            if !shared.state.isOver { shared.recording.received(buffer, from: direction) }
        }
        if idleTimeout != nil, let context { shared.lastRead = context.eventLoop.now }
        if partner.state.hasDeparted { partner.lose() }
    }

    /// Whether the proxy is being stopped: connections end with it, not by what their sides do.
    var isStopping: Bool { relays.isStopping }

    /// How many bytes were written here, those before the relay began included.
    var sentBytes = 0

    /// Whether TLS lies between this handler and the socket.
    var hasTLS: Bool { tls != nil }

    /// The channel; nil once it is gone.
    var channel: (any Channel)? { context?.channel }

    /// What is known of the writes here.
    var writing = Writing()

    func channelReadComplete(context: ChannelHandlerContext) {
        partner?.flush()
        // Otherwise the channel asks the whole pipeline, which has only this handler.
        if writing.transport != nil, partner?.takesBytes == true {
            gate.want()
            readIfWanted()
        }
    }

    func read(context: ChannelHandlerContext) {
        gate.want()
        if whenEarly != nil { return context.read() }
        if let upgrade = shared?.upgrade, upgrade.isAgreed {
            if direction == .fromClient ? upgrade.needsBytes : tls != nil && early.readableBytes == 0 { context.read() }
            return
        }
        guard let partner, partner.takesBytes else {
            heldReading?.begin()
            return
        }
        readIfWanted()
    }

    /// Whether bytes written here are on their way, and not merely buffered in memory.
    private var takesBytes: Bool { isWritable && context != nil || state.hasEnded }

    /// Whether the channel accepts bytes, as its last event said: asked for every chunk.
    private var isWritable = true

    private func readIfWanted() {
        guard let context, let shared else { return }
        let isTaken = partner?.takesBytes == true
        if isTaken { heldReading?.end() }
        let step = gate.step(isTaken: isTaken) { shared.recording.hasRoom }
        switch step {
        case .read: context.read()
        case .awaitRecorder: shared.recording.whenThereIsRoom { [weak self] in self?.recorderHasRoom() }
        case .wait: break
        }
    }

    /// The recorder has caught up. Waiting for it does not count as silence of the peers.
    private func recorderHasRoom() {
        gate.recorderHasRoom()
        if idleTimeout != nil, let shared, let context { shared.lastRead = context.eventLoop.now }
        readIfWanted()
    }

    /// A stage holds too much of what is read here, or no longer does.
    func pauseReading(_ isPaused: Bool) {
        gate.isPaused = isPaused
        readIfWanted()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        if isWritable { partner?.readIfWanted() }
    }

    // MARK: Ends

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? ChannelEvent {
        case .inputClosed?: endInput()
        case .outputClosed?: state.isOutputClosed = true
        case nil: context.fireUserInboundEventTriggered(event)
        }
    }

    private func endInput() {
        state.hasInputEnded = true
        if tls?.isTruncated == true { shared?.recording.noticed(.tlsTruncated, from: direction) }
        if let shared { perform(shared.state.finish(direction)) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        reportFault()
        lose()
        context.close(promise: nil)
    }

    /// Reports why this end's TLS broke, if it did. An alert is the other program's end of the connection; otherwise the proxy ends
    /// it.
    private func reportFault() {
        guard let fault = tls?.fault else { return }
        shared?.recording.noticed(.tlsFault(fault.text), from: direction)
        isRefused = fault.alert == nil
    }

    func channelInactive(context: ChannelHandlerContext) { becameInactive() }

    private func becameInactive() {
        let closing = state.close(isStopping: relays.isStopping)
        if closing == .lost { return lose() }
        if closing == .inputEnded { endInput() }
        // Bytes that the other side still sends reach no one, but its end must be noticed.
        partner?.readIfWanted()
    }

    private func lose() {
        if state.lose() { performLoss() }
    }

    private func performLoss() {
        guard let shared else { return }
        if relays.isStopping { shared.state.stop() }
        perform(shared.state.lose(direction))
    }

    private func perform(_ actions: [RelayState.Action]) {
        for action in actions {
            switch action {
            case .record(.reset, let direction) where isRefused: shared?.recording.refused(direction)
            case .record(let ending, let direction): shared?.recording.finished(ending, from: direction)
            case .passOnEnd(let direction): passOn(.fin, of: direction)
            case .reset(let direction): passOn(.reset, of: direction)
            case .recordExpiry: shared?.recording.ended(.timeout)
            case .cutOff:
                partner?.reset()
                reset()
            }
        }
    }

    /// Passes the end of the input on to the other end, after the data that stages hold.
    private func passOn(_ ending: Ending, of direction: Direction) {
        if let stages = shared?.stages {
            stages.take(.end(ending, direction))
        } else {
            partner?.end(ending)
        }
    }

    /// The other end is about to be reset. If it is a stage that does this, this end is reset, too.
    func wasResetByStage() {
        guard let shared, !shared.state.isOver else { return }
        shared.recording.ended(.rule)
        shared.state.stop()
        end(.reset)
    }

    /// A command ends the connection: neither side has, and neither must see a clean end.
    func endByCommand() {
        guard let shared else { return }
        if !shared.state.isOver {
            shared.recording.ended(.rule)
            shared.state.stop()
        }
        perform([.cutOff])
    }

    /// Ends the output, after everything that was written.
    func end(_ ending: Ending) {
        switch ending {
        case .fin:
            // Data that may be truncated must not look complete at the other end.
            let isTruncated = partner?.tls?.isTruncated == true
            context?.whenFlushed { [weak self] in
                self?.state.isOutputClosed = true
                if isTruncated, self?.hasTLS == true, let wire = self?.wire {
                    wire.closeOutput()
                } else {
                    self?.context?.close(mode: .output, promise: nil)
                }
            }
        case .reset:
            guard !isEnding else { return }
            isEnding = true
            // What was written has to be encrypted before.
            context?.flush()
            wire?.willReset()
            lowest?.resetWhenDelivered(within: .nanoseconds(Int64(deliveryTimeout * 1e9)))
        }
    }
}
