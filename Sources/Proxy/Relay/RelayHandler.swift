import NIOCore
import Streams

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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

        init(recording: any RelayRecording) {
            self.recording = recording
        }
    }

    private let direction: Direction
    private let relays: OpenRelays
    private var shared: Shared?
    private var partner: RelayHandler?
    private var context: ChannelHandlerContext?
    private var wantsToRead = false
    /// What came before there was a partner.
    private var early: [ByteBuffer] = []
    private var hasEndedEarly = false
    private var hasInputEnded = false
    private var isOutputClosed = false
    private(set) var isLost = false

    /// - Parameters:
    ///   - direction: that of the bytes that are read here.
    ///   - relays: knows whether the proxy is being stopped.
    init(reading direction: Direction, relays: OpenRelays) {
        self.direction = direction
        self.relays = relays
    }

    /// Joins two ends; what came early is forwarded now.
    static func join(_ client: RelayHandler, _ server: RelayHandler, recording: any RelayRecording) {
        let shared = Shared(recording: recording)
        (client.shared, server.shared) = (shared, shared)
        (client.partner, server.partner) = (server, client)
        for end in [client, server] {
            for buffer in end.early { end.forward(buffer) }
            end.partner?.context?.flush()
            end.early = []
            if end.hasEndedEarly { end.perform(shared.state.finish(end.direction)) }
            if end.isLost { end.performLoss() }
        }
        for end in [client, server] { end.readIfWanted() }
    }

    // MARK: Reading

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        partner = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
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
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        partner?.context?.flush()
    }

    func read(context: ChannelHandlerContext) {
        if let other = partner?.context, other.channel.isWritable {
            context.read()
        } else {
            wantsToRead = true
        }
    }

    private func readIfWanted() {
        guard wantsToRead, let context, let other = partner?.context, other.channel.isWritable else { return }
        wantsToRead = false
        context.read()
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
            case .reset: partner?.reset()
            }
        }
    }

    /// Sends FIN once everything before it has been written.
    private func closeOutput() {
        guard let context else { return }
        // Closing drops what is still to be written where the other direction is closed too: an empty write comes last.
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
        written.futureResult.assumeIsolated().whenComplete { [weak self] _ in
            self?.context?.close(mode: .output, promise: nil)
        }
    }

    /// Ends a connection that never got a partner, as its server would have.
    func refuse() {
        isLost = true
        reset()
    }

    /// Sends RST: with a lingering time of 0 closing does not send FIN (POSIX, SO_LINGER).
    private func reset() {
        guard let context else { return }
        if let socket = context.channel as? any SocketOptionProvider {
            socket.unsafeSetSocketOption(
                level: .socket, name: .so_linger, value: linger(l_onoff: 1, l_linger: 0)
            ).assumeIsolated().whenComplete { [weak self] _ in self?.context?.close(promise: nil) }
        } else {
            context.close(promise: nil)
        }
    }
}
