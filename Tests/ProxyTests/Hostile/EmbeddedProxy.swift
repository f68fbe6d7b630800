import Foundation
import NIOCore
import NIOEmbedded
import Streams

@testable import Proxy

/// A proxy without sockets and threads: the test is the network, the servers and the clock.
final class EmbeddedProxy {
    let loop = EmbeddedEventLoop()
    let queue: RecordingQueue
    let context: ProxyContext
    private let connector = ScriptedConnector()
    private let listener: Listener

    init(
        _ listener: Listener, queue: RecordingQueue = RecordingQueue(),
        _ change: (inout ProxyOptions) -> Void = { _ in }
    ) {
        var options = ProxyOptions([listener])
        change(&options)
        self.listener = listener
        self.queue = queue
        context = ProxyContext(
            options, queue: queue, connector: connector, own: OwnAddresses { [] },
            destination: { channel in
                channel.eventLoop.makeSucceededFuture(Wire.address(9_000))
            })
    }

    /// A client connects.
    ///
    /// - Parameter managed: its listener's handle, if that can be closed.
    func accept(by managed: ManagedListener? = nil) throws -> Wire {
        let wire = Wire(on: loop)
        wire.channel.remoteAddress = Wire.address(40_000)
        wire.channel.localAddress = Wire.address(1_080)
        try context.serve(wire.channel, at: listener, managed: managed)
        wire.channel.connect(to: Wire.address(1_080), promise: nil)
        return wire
    }

    /// The server that is being connected to, if any is.
    var wanted: Place? { connector.pending.first?.place }

    /// The server accepts.
    ///
    /// - Parameters:
    ///   - isGone: whether it is gone before the proxy notices that it has.
    ///   - early: what it has sent before that.
    func connect(isGone: Bool = false, early: [UInt8] = []) throws -> Wire? {
        guard !connector.pending.isEmpty else { return nil }
        let attempt = connector.pending.removeFirst()
        let wire = Wire(on: loop)
        wire.channel.remoteAddress = Wire.address(9_000)
        wire.channel.localAddress = Wire.address(50_000)
        try attempt.initialize(wire.channel)
        wire.channel.connect(to: Wire.address(9_000), promise: nil)
        if isGone { wire.channel.pipeline.close(promise: nil) }
        if !early.isEmpty { wire.channel.pipeline.fireChannelRead(ByteBuffer(bytes: early)) }
        attempt.promise.succeed(wire.channel)
        // Nothing else happens before it is relayed.
        if early.isEmpty { loop.run() }
        return wire
    }

    /// The server cannot be reached.
    func fail(_ error: any Error) {
        guard !connector.pending.isEmpty else { return }
        connector.pending.removeFirst().promise.fail(ConnectFailure(error))
        loop.run()
    }

    /// The events recorded since the last call.
    func recorded() -> [RecordingQueue.Event] {
        queue.take(until: Timestamp(nanoseconds: 0)).events
    }
}

/// Connects when the test tells it to.
///
/// Safe: everything happens on the thread of the test.
final class ScriptedConnector: ServerConnecting, @unchecked Sendable {
    struct Attempt {
        var place: Place
        var promise: EventLoopPromise<any Channel>
        var initialize: (any Channel) throws -> Void
    }

    var pending: [Attempt] = []

    func connect(
        to place: Place, on loop: any EventLoop, initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> EventLoopFuture<any Channel> {
        let promise = loop.makePromise(of: (any Channel).self)
        pending.append(Attempt(place: place, promise: promise, initialize: initialize))
        return promise.futureResult
    }
}

/// The network's side of a channel: behaves like a socket.
final class Wire: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    let channel: EmbeddedChannel
    /// The data that the proxy has sent so far.
    private(set) var sent: [UInt8] = []
    /// The same, as far as it was flushed: what was flushed together is one write.
    private(set) var flushed: [[UInt8]] = []
    private var unflushed: [UInt8] = []
    /// Whether it sent FIN.
    private(set) var hasFIN = false
    /// How often it requested a read.
    private(set) var reads = 0
    /// Whether writes are held until `deliver`.
    var isStuck = false
    private var undelivered: [EventLoopPromise<Void>] = []
    private var isInputClosed = false

    init(on loop: EmbeddedEventLoop) {
        channel = EmbeddedChannel(handlers: [], loop: loop)
        try? channel.pipeline.syncOperations.addHandler(self)
    }

    static func address(_ port: Int) -> SocketAddress {
        guard let address = try? SocketAddress(ipAddress: "192.0.2.1", port: port) else {
            preconditionFailure("192.0.2.1 is an address")
        }
        return address
    }

    var isOpen: Bool { channel.isActive }

    /// Bytes arrive.
    func receive(_ bytes: some Sequence<UInt8>) {
        guard isOpen, !isInputClosed else { return }
        channel.pipeline.fireChannelRead(ByteBuffer(bytes: bytes))
        channel.pipeline.fireChannelReadComplete()
        channel.embeddedEventLoop.run()
    }

    /// A FIN arrives.
    func finish() {
        guard isOpen, !isInputClosed else { return }
        isInputClosed = true
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        if hasFIN { channel.pipeline.close(promise: nil) }
        channel.embeddedEventLoop.run()
    }

    /// A RST arrives.
    func reset() {
        guard isOpen else { return }
        channel.pipeline.fireErrorCaught(IOError(errnoCode: 104, reason: "reset"))
        if isOpen { channel.pipeline.close(promise: nil) }
        channel.embeddedEventLoop.run()
    }

    /// The socket is gone without an error: the process ends, or the other end of a Unix socket was closed.
    func vanish() {
        guard isOpen else { return }
        channel.pipeline.close(promise: nil)
        channel.embeddedEventLoop.run()
    }

    /// The other end accepts bytes, or does not.
    func setWritable(_ isWritable: Bool) {
        guard isOpen, channel.isWritable != isWritable else { return }
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.run()
    }

    /// Delivers the pending writes.
    func deliver() {
        isStuck = false
        let promises = undelivered
        undelivered = []
        for promise in promises { promise.succeed() }
        channel.embeddedEventLoop.run()
    }

    func read(context: ChannelHandlerContext) { reads += 1 }
    func flush(context: ChannelHandlerContext) {
        if !unflushed.isEmpty { flushed.append(unflushed) }
        unflushed = []
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        sent += unwrapOutboundIn(data).readableBytesView
        unflushed += unwrapOutboundIn(data).readableBytesView
        if isStuck, let promise { undelivered.append(promise) } else { promise?.succeed() }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else {
            let promises = undelivered
            undelivered = []
            for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
            return context.close(mode: mode, promise: promise)
        }
        hasFIN = true
        promise?.succeed()
        context.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
        if isInputClosed { context.close(promise: nil) }
    }
}
