import NIOCore
import Streams

/// The lowest handler of a socket with TLS: sees its ciphertext, and ends the connection without TLS having a say.
final class TLSWire: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private(set) var context: ChannelHandlerContext?
    private var watch: HandshakeWatch?
    private let record: CiphertextRecording?
    private let contexts: TLSContexts
    private let relays: OpenRelays
    private var isTaking = false
    /// What was sent while a chunk was being taken: it follows that chunk.
    private var answers: [ByteBuffer] = []
    private var whenTaken: [() -> Void] = []

    /// - Parameters:
    ///   - watch: follows the handshake.
    ///   - record: records the ciphertext; nil: it is not recorded.
    ///   - contexts: where secrets become known.
    ///   - relays: knows whether the proxy is being stopped.
    init(_ watch: HandshakeWatch, record: CiphertextRecording?, contexts: TLSContexts, relays: OpenRelays) {
        (self.watch, self.record, self.contexts, self.relays) = (watch, record, contexts, relays)
    }

    /// Calls back when the chunk that is being taken has been followed and recorded; immediately if there is none.
    func whenTaken(_ call: @escaping () -> Void) {
        if isTaking { whenTaken.append(call) } else { call() }
    }

    /// The handshake is over.
    func endHandshake() {
        watch?.end()
        watch = nil
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Takes bytes that were read before TLS was there.
    func begin(with buffer: ByteBuffer) {
        guard let context else { return }
        channelRead(context: context, data: NIOAny(buffer))
        context.fireChannelReadComplete()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard watch != nil || record != nil else { return context.fireChannelRead(data) }
        // Secrets that TLS learns from a chunk come before the chunk: readers of a capture need them by then.
        isTaking = true
        context.fireChannelRead(data)
        isTaking = false
        let lines = contexts.takeKeyLines()
        if !lines.isEmpty {
            watch?.learned(lines)
            record?.learned(lines)
        }
        let chunk = unwrapInboundIn(data)
        watch?.received(chunk)
        record?.received(chunk)
        let sent = answers
        answers = []
        for answer in sent { pass(answer) }
        let calls = whenTaken
        whenTaken = []
        for call in calls { call() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // Neither side has ended a connection that the proxy breaks: a close_notify would say so.
        if relays.isStopping {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if watch != nil || record != nil {
            let buffer = unwrapOutboundIn(data)
            if isTaking { answers.append(buffer) } else if buffer.readableBytes > 0 { pass(buffer) }
        }
        context.write(data, promise: promise)
    }

    private func pass(_ sent: ByteBuffer) {
        watch?.sent(sent)
        record?.sent(sent)
    }

    // MARK: Ends

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { whenTaken { self.record?.finished(isProxy: false) } }
        context.fireUserInboundEventTriggered(event)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // TLS closes a socket as a whole when both of its directions have ended. Resets do not come this way.
        if mode != .input, !relays.isStopping { whenTaken { self.record?.finished(isProxy: true) } }
        context.close(mode: mode, promise: promise)
    }

    /// Sends FIN after everything that was written, without a close_notify.
    func closeOutput() {
        record?.finished(isProxy: true)
        context?.close(mode: .output, promise: nil)
    }

    /// The proxy resets the connection.
    func willReset() { whenTaken { self.record?.reset() } }

    func channelInactive(context: ChannelHandlerContext) {
        // A proxy that is being stopped says nothing about its connections' ends.
        if !relays.isStopping { whenTaken { self.record?.closed() } }
        context.fireChannelInactive()
    }
}

/// Records the ciphertext of one socket under its own addresses, and the secrets that decrypt it.
final class CiphertextRecording {
    private let queue: RecordingQueue
    private let connection: Int
    /// The direction of what the proxy sends.
    private let proxySends: Direction
    private var finished: Set<Direction> = []

    /// A recording of a socket.
    init(_ queue: RecordingQueue, _ channel: any Channel, on leg: TLSRequest.Leg) {
        let (near, far) = (Endpoint(channel.localAddress).unmapped, Endpoint(channel.remoteAddress).unmapped)
        self.queue = queue
        proxySends = leg == .client ? .fromServer : .fromClient
        connection = leg == .client ? queue.open(client: far, server: near) : queue.open(client: near, server: far)
    }

    func learned(_ lines: [UInt8]) { queue.learn(lines) }

    func received(_ buffer: ByteBuffer) { take(buffer, from: proxySends.opposite) }

    func sent(_ buffer: ByteBuffer) { take(buffer, from: proxySends) }

    private func take(_ buffer: ByteBuffer, from direction: Direction) {
        // What is written to a socket that is closed goes nowhere.
        guard buffer.readableBytes > 0, !finished.contains(direction) else { return }
        queue.receive(buffer, on: connection, from: direction)
    }

    /// One side sent FIN.
    func finished(isProxy: Bool) {
        let direction = isProxy ? proxySends : proxySends.opposite
        if finished.insert(direction).inserted { queue.finish(.fin, on: connection, from: direction) }
    }

    /// The proxy resets the connection.
    func reset() {
        guard finished.count < 2 else { return }
        queue.finish(.reset, on: connection, from: proxySends)
        finished = Set(Direction.allCases)
    }

    /// The socket is closed.
    func closed() {
        guard finished.count < 2 else { return }
        // NIO closes a socket at once, without an event, when its second direction ends.
        let isClean = !finished.isEmpty
        let last = finished.contains(proxySends) ? proxySends.opposite : proxySends
        queue.finish(isClean ? .fin : .reset, on: connection, from: isClean ? last : proxySends.opposite)
        finished = Set(Direction.allCases)
    }
}
