import NIOCore
import Streams

/// One end of a relayed connection: what is read here is written there.
///
/// Both ends run on one event loop. Reading stops while the other end does not take what was read. Bytes are forwarded
/// first and handed to the recording behind that.
final class RelayHandler: ChannelInboundHandler, ChannelOutboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// What both ends of a connection share.
    final class Shared {
        var state = RelayState()
        let recording: any RelayRecording
        /// When a byte was read last; only looked at where there is an idle timeout.
        var lastRead: NIODeadline

        init(recording: any RelayRecording, now: NIODeadline) {
            (self.recording, lastRead) = (recording, now)
        }
    }

    static let allocator = AdaptiveRecvByteBufferAllocator(minimum: 512, initial: 2_048, maximum: 65_536)

    private let direction: Direction
    private let relays: OpenRelays
    private let options: ProxyOptions
    private var shared: Shared?
    private var partner: RelayHandler?
    private var context: ChannelHandlerContext?
    private var wantsToRead = false
    /// How long the other end has taken nothing.
    private var heldReading: HeldReading?
    /// What came before there was a partner.
    private var early: [ByteBuffer] = []
    private var hasEndedEarly = false
    private var hasInputEnded = false
    private var isOutputClosed = false
    private(set) var isLost = false
    /// There will be no partner: what comes is thrown away until the other end has heard that.
    private var isDismissed = false
    /// This end is about to be reset.
    private var isEnding = false
    /// Whether reading waits until the recorder has caught up.
    private var waitsForRecorder = false
    /// Whether this end is a Unix socket: the other program's `close` ends both directions at once there, after its bytes
    /// were read, and without an error. Over TCP that would be a FIN, and a RST if anything is sent to it then.
    private let isUnix: Bool
    /// Whether the other program of a Unix socket has closed it.
    private var hasDeparted = false

    /// - Parameters:
    ///   - direction: that of the bytes that are read here.
    ///   - isUnix: whether the socket is a Unix socket.
    ///   - relays: knows whether the proxy is being stopped.
    ///   - options: the proxy's.
    init(reading direction: Direction, isUnix: Bool = false, relays: OpenRelays, options: ProxyOptions) {
        self.direction = direction
        self.isUnix = isUnix
        self.relays = relays
        self.options = options
    }

    /// Joins two ends; what came early is forwarded now.
    static func join(_ client: RelayHandler, _ server: RelayHandler, recording: any RelayRecording) {
        let now = (client.context ?? server.context)?.eventLoop.now ?? .now()
        let shared = Shared(recording: recording, now: now)
        (client.shared, server.shared) = (shared, shared)
        (client.partner, server.partner) = (server, client)
        for end in [client, server] {
            if let eventLoop = end.context?.eventLoop {
                let direction = end.direction
                end.heldReading = HeldReading(on: eventLoop) { [weak shared] isHeld in
                    guard let shared, !shared.state.isOver else { return }
                    shared.recording.held(isHeld, from: direction)
                }
            }
            for buffer in end.early { end.forward(buffer) }
            end.partner?.context?.flush()
            end.early = []
            if end.hasEndedEarly { end.perform(shared.state.finish(end.direction)) }
            if end.isLost { end.performLoss() }
        }
        for end in [client, server] { end.readIfWanted() }
        client.watchForSilence()
    }

    /// Writes what goes before the first byte that is relayed.
    func writeFirst(_ bytes: [UInt8]) {
        context?.write(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    }

    // MARK: Reading

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        if partner?.hasDeparted == true { partner?.partner = nil }
        // An end that has departed may have to reset the other one later.
        if !hasDeparted { partner = nil }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        // NIOSOCKS passes on what it holds when it goes, even where that is nothing.
        if isDismissed || buffer.readableBytes == 0 { return }
        if partner == nil {
            early.append(buffer)
        } else {
            forward(buffer)
        }
    }

    private func forward(_ buffer: ByteBuffer) {
        guard let partner, let shared else { return }
        partner.context?.write(partner.wrapOutboundOut(buffer), promise: nil)
        if !shared.state.isOver { shared.recording.received(buffer, from: direction) }
        if options.idleTimeout != nil, let context { shared.lastRead = context.eventLoop.now }
        if partner.hasDeparted { partner.lose() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        partner?.context?.flush()
    }

    func read(context: ChannelHandlerContext) {
        if isDismissed { return context.read() }
        wantsToRead = true
        guard let partner, partner.takesBytes else {
            heldReading?.begin()
            return
        }
        readIfWanted()
    }

    /// Whether what is written here is on its way, and not only kept in memory.
    private var takesBytes: Bool { hasDeparted || context?.channel.isWritable == true }

    private func readIfWanted() {
        guard wantsToRead, !waitsForRecorder, let context, let shared, partner?.takesBytes == true else { return }
        heldReading?.end()
        guard shared.recording.hasRoom else {
            waitsForRecorder = true
            return shared.recording.whenThereIsRoom { [weak self] in self?.recorderHasRoom() }
        }
        wantsToRead = false
        context.read()
    }

    /// The recorder has caught up. That it had to be waited for is no silence of the peers.
    private func recorderHasRoom() {
        waitsForRecorder = false
        if options.idleTimeout != nil, let shared, let context { shared.lastRead = context.eventLoop.now }
        readIfWanted()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { partner?.readIfWanted() }
    }

    // MARK: Ends

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? ChannelEvent {
        case .inputClosed?: endInput()
        case .outputClosed?: isOutputClosed = true
        case nil: context.fireUserInboundEventTriggered(event)
        }
    }

    private func endInput() {
        hasInputEnded = true
        if isDismissed {
            context?.close(promise: nil)
            return
        }
        if let shared {
            perform(shared.state.finish(direction))
        } else {
            hasEndedEarly = true
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        lose()
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The end of the input of a channel whose output is closed closes it at once, without an event of its own; a
        // reset would have been an error first.
        if isOutputClosed, !hasInputEnded, !isLost, !relays.isStopping {
            endInput()
        } else if isUnix, hasInputEnded, !isLost, !relays.isStopping {
            // What the other side still sends has nobody to go to, but its end is to be seen.
            hasDeparted = true
            partner?.readIfWanted()
        } else {
            lose()
        }
    }

    private func lose() {
        guard !isLost else { return }
        isLost = true
        performLoss()
    }

    private func performLoss() {
        guard let shared else { return }
        if relays.isStopping { shared.state.stop() }
        perform(shared.state.lose(direction))
    }

    private func perform(_ actions: [RelayState.Action]) {
        for action in actions {
            switch action {
            case .record(let ending, let direction): shared?.recording.finished(ending, from: direction)
            case .passOnEnd: partner?.closeOutput()
            case .reset: partner?.resetWhenDelivered()
            case .recordExpiry: shared?.recording.expired()
            case .cutOff:
                partner?.reset()
                reset()
            }
        }
    }

    /// Sends FIN once everything before it has been written.
    private func closeOutput() {
        flushed { $0.context?.close(mode: .output, promise: nil) }
    }

    /// Calls `then` once everything that is to be written has been, or cannot be.
    ///
    /// Closing drops what is still to be written where the other direction is closed, too: an empty write comes last.
    private func flushed(_ then: @escaping (RelayHandler) -> Void) {
        guard let context else { return }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        written.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            if let self { then(self) }
        }
    }

    /// Ends a connection that never got a partner, as its server would have.
    func refuse() {
        isLost = true
        reset()
    }

    /// Ends a connection that never got a partner, cleanly: the other end was sent a reason, and has time to read it.
    func dismiss() {
        guard let context else { return }
        (isDismissed, isLost, early) = (true, true, [])
        // Whether it has ended already or not: it may never take what was sent.
        context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(2)) { [weak self] in self?.reset() }
        if hasInputEnded { return flushed { $0.context?.close(promise: nil) } }
        closeOutput()
        context.read()
    }

    /// Sends RST.
    private func reset() {
        guard let context else { return }
        context.channel.resetOnClose().assumeIsolated().whenComplete { [weak self] _ in
            self?.context?.close(promise: nil)
        }
    }

    // MARK: Resets that overtake nothing

    /// Resets once what was read from the other side has reached this one, as it would have without a proxy in between,
    /// where it was on its way already. One that takes nothing is waited for in vain, so not for ever.
    private func resetWhenDelivered() {
        guard let context, !isEnding else { return }
        isEnding = true
        context.eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(options.deliveryTimeout * 1e9))) {
            [weak self] in self?.reset()
        }
        flushed { $0.resetWhenAcknowledged() }
    }

    private func resetWhenAcknowledged() {
        guard let context else { return }
        Unacknowledged.isAnything(on: context.channel).assumeIsolated().whenComplete { [weak self] result in
            guard let self, let context = self.context else { return }
            guard case .success(true) = result else { return self.reset() }
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(5)) { [weak self] in
                self?.resetWhenAcknowledged()
            }
        }
    }

    // MARK: Silence

    private func watchForSilence() {
        guard let limit = options.idleTimeout else { return }
        expectSilence(of: .nanoseconds(Int64(limit * 1e9)))
    }

    private func expectSilence(of limit: TimeAmount) {
        guard let shared, let context = context ?? partner?.context else { return }
        context.eventLoop.assumeIsolated().scheduleTask(deadline: shared.lastRead + limit) { [weak self] in
            guard let self, let shared = self.shared, !self.relays.isStopping else { return }
            let now = context.eventLoop.now
            if self.waitsForRecorder || self.partner?.waitsForRecorder == true { shared.lastRead = now }
            if shared.lastRead + limit > now { return self.expectSilence(of: limit) }
            self.perform(shared.state.expire())
        }
    }
}
