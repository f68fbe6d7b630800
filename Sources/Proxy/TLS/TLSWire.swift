import NIOCore
import NIOSSL

/// The lowest handler of a socket with TLS: sees its ciphertext, and closes or resets the connection without going through TLS.
/// Where a connection may change to TLS, it is there from the beginning, if the ciphertext is recorded.
final class TLSWire: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private(set) var context: ChannelHandlerContext?
    private var watch: HandshakeWatch?
    /// Records the ciphertext; nil: it is not recorded.
    var record: CiphertextRecording?
    private let contexts: TLSContexts
    private let relays: OpenRelays
    /// The chunk that TLS is taking, and what came before TLS was done with it.
    private var taking: [(chunk: ByteBuffer, isRecorded: Bool)] = []
    /// Whether TLS goes on with its chunk at the next turn of the event loop.
    private var isVerifying = false
    private var isTaking: Bool { !taking.isEmpty }
    /// What was sent while a chunk was being taken: it follows that chunk.
    private var answers: [ByteBuffer] = []
    private var whenTaken: [() -> Void] = []

    /// - Parameters:
    ///   - watch: follows the handshake; nil: there is none yet.
    ///   - contexts: where secrets become known.
    ///   - relays: knows whether the proxy is being stopped.
    init(_ watch: HandshakeWatch?, contexts: TLSContexts, relays: OpenRelays) {
        (self.watch, self.contexts, self.relays) = (watch, contexts, relays)
    }

    /// Calls back when the chunk that is being taken has been followed and recorded; immediately if there is none.
    func whenTaken(_ call: @escaping () -> Void) {
        if isTaking { whenTaken.append(call) } else { call() }
    }

    /// A handshake begins.
    func beginHandshake(_ watch: HandshakeWatch) { self.watch = watch }

    /// The handshake is over.
    func endHandshake() {
        watch?.end()
        watch = nil
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        // A channel that was closed before this was added reports no end.
        noteEnd()
    }

    /// Takes bytes that were read before TLS was there.
    ///
    /// - Parameter isRecorded: whether they are recorded already.
    func begin(with buffer: ByteBuffer, isRecorded: Bool = false) {
        guard let context else { return }
        read(NIOAny(buffer), isRecorded: isRecorded, context)
        context.fireChannelReadComplete()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { read(data, isRecorded: false, context) }

    private func read(_ data: NIOAny, isRecorded: Bool, _ context: ChannelHandlerContext) {
        guard watch != nil || record != nil else { return context.fireChannelRead(data) }
        // Secrets that TLS learns from a chunk come before the chunk: readers of a capture need them by then.
        taking.append((unwrapInboundIn(data), isRecorded))
        context.fireChannelRead(data)
        if !isVerifying { endTaking() }
    }

    /// TLS accepts whatever certificate the client has. swift-nio-ssl goes on with the handshake at the next turn of the event loop: the
    /// secrets that follow from the chunk are not known until then.
    func accept(_ promise: EventLoopPromise<NIOSSLVerificationResult>) {
        promise.succeed(.certificateVerified)
        isVerifying = true
        // TLS has scheduled its turn when the promise succeeded: this one follows it.
        promise.futureResult.eventLoop.assumeIsolated().execute {
            self.isVerifying = false
            self.endTaking()
        }
    }

    private func endTaking() {
        guard isTaking else { return }
        let chunks = taking
        taking = []
        let lines = contexts.takeKeyLines()
        if !lines.isEmpty {
            watch?.learned(lines)
            record?.learned(lines)
        }
        for (chunk, isRecorded) in chunks {
            watch?.received(chunk)
            if !isRecorded { record?.received(chunk) }
        }
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
        noteEnd()
        context.fireChannelInactive()
    }

    private func noteEnd() {
        // A proxy that is being stopped says nothing about its connections' ends.
        if !relays.isStopping { whenTaken { self.record?.closed() } }
    }
}
