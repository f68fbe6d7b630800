import Framing
import NIOCore
import NIOPosix
import Platform
import Proxy
import Replay
import Streams
import Trace

/// Performs a play on real sockets. Used on one event loop only.
final class PlayDriver {
    private var play: Play
    private let format: Format
    private let server: SocketAddress
    private let eventLoop: any EventLoop
    private let finished: EventLoopPromise<Outcome>
    private var channels: [Int: any Channel] = [:]
    private var incoming: [Int: IncomingFrames] = [:]
    private var sentBytes: [Int: Int] = [:]
    private var wake: (time: Timestamp, task: Scheduled<Void>)?
    private var isOver = false
    private let diagnosis = SocketDiagnosis()

    /// How long a server may take to read what was written, before the next write.
    private static let patience = TimeAmount.seconds(1)
    /// The pause between two writes where it cannot be known whether the first one was read.
    private static let pause = TimeAmount.milliseconds(2)
    /// How often it is looked whether a pause has ended a frame.
    private static let tick = TimeAmount.milliseconds(20)

    private init(_ play: Play, _ format: Format, _ server: SocketAddress, _ eventLoop: any EventLoop) {
        (self.play, self.format, self.server, self.eventLoop) = (play, format, server, eventLoop)
        finished = eventLoop.makePromise()
    }

    /// Plays it to its end.
    static func run(_ play: Play, _ format: Format, to server: SocketAddress) async throws -> Outcome {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let driver = try await eventLoop.submit {
            NIOLoopBound(PlayDriver(play, format, server, eventLoop), eventLoop: eventLoop)
        }.get()
        return try await withTaskCancellationHandler {
            try await eventLoop.flatSubmit {
                driver.value.perform(driver.value.play.begin(at: .now()))
                return driver.value.finished.futureResult
            }.get()
        } onCancel: {
            eventLoop.execute { driver.value.abandon() }
        }
    }

    private func abandon() {
        guard !isOver else { return }
        end()
        finished.fail(CancellationError())
    }

    private func end() {
        isOver = true
        wake?.task.cancel()
        for channel in channels.values { channel.close(promise: nil) }
    }

    private func take(_ event: Play.Event) {
        guard !isOver else { return }
        perform(play.take(event, at: .now()))
    }

    private func perform(_ actions: [Play.Action]) {
        for action in actions {
            switch action {
            case .connect(let place): connect(place)
            case .write(let place, let bytes): write(bytes, to: place)
            case .finish(let place): channels[place]?.close(mode: .output, promise: nil)
            case .wake(let time): schedule(time)
            case .done:
                end()
                finished.succeed(play.outcome)
            }
        }
    }

    private func schedule(_ time: Timestamp) {
        if let wake, wake.time == time { return }
        wake?.task.cancel()
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(clamping: time.nanoseconds))
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.wake = nil
            self.take(.wake)
        }
        wake = (time, task)
    }

    // MARK: Connections

    private func connect(_ place: Int) {
        let bound = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connectTimeout(.seconds(5))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(PlayHandler(bound.value, place))
                }
            }
            .connect(to: server)
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let channel):
                    guard !self.isOver else { return channel.close(promise: nil) }
                    self.channels[place] = channel
                    self.take(.opened(place))
                case .failure(let error): self.take(.refused(place, connectionCause(of: error)))
                }
            }
    }

    fileprivate func opened(_ place: Int) {
        incoming[place] = IncomingFrames(format, from: .fromServer, at: .now())
        if format.directions.fromServer.rule.idle != nil { watchForPauses(place) }
    }

    private func watchForPauses(_ place: Int) {
        eventLoop.assumeIsolated().scheduleTask(in: Self.tick) {
            guard !self.isOver else { return }
            for item in self.incoming[place]?.advance(to: .now()) ?? [] { self.take(.heard(place, item)) }
            self.watchForPauses(place)
        }
    }

    fileprivate func received(_ bytes: [UInt8], on place: Int) {
        for item in incoming[place]?.take(bytes.span.bytes, at: .now()) ?? [] { take(.heard(place, item)) }
    }

    fileprivate func ended(_ ending: Ending, on place: Int) {
        for item in incoming[place]?.finish(at: .now()) ?? [] { take(.heard(place, item)) }
        take(.ended(place, ending))
    }

    // MARK: Writing

    private func write(_ bytes: [UInt8], to place: Int) {
        guard let channel = channels[place] else { return }
        sentBytes[place, default: 0] += bytes.count
        let completed = incoming[place]?.note(sent: bytes.span.bytes, at: .now()) ?? []
        channel.writeAndFlush(channel.allocator.buffer(bytes: bytes), promise: nil)
        for item in completed { take(.heard(place, item)) }
        awaitReceipt(on: place, since: .now())
    }

    /// Waits until the server has read what was written to it.
    private func awaitReceipt(on place: Int, since start: NIODeadline) {
        guard !isOver else { return }
        let waited = NIODeadline.now() - start
        guard let channel = channels[place], channel.isActive, waited < Self.patience else {
            // Not at once: the next write may end the same way.
            return eventLoop.assumeIsolated().execute { self.take(.read(isProven: false)) }
        }
        guard let diagnosis, let hasRead = channel.peerHasRead(sentBytes[place] ?? 0, diagnosis) else {
            if waited >= Self.pause { return take(.read(isProven: false)) }
            return again(on: place, since: start, in: Self.pause)
        }
        if hasRead { return take(.read(isProven: true)) }
        again(on: place, since: start, in: waited < .milliseconds(5) ? .microseconds(40) : .milliseconds(1))
    }

    private func again(on place: Int, since start: NIODeadline, in time: TimeAmount) {
        eventLoop.assumeIsolated().scheduleTask(in: time) { self.awaitReceipt(on: place, since: start) }
    }
}

/// One connection of a play.
private final class PlayHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let driver: PlayDriver
    private let place: Int
    private var hasEnded = false

    init(_ driver: PlayDriver, _ place: Int) { (self.driver, self.place) = (driver, place) }

    func channelActive(context: ChannelHandlerContext) {
        acknowledgeAtOnce(context)
        driver.opened(place)
    }

    /// A server that writes an answer in two parts waits with the second one for the acknowledgment of the first (RFC 896), which
    /// may be delayed by 40 ms. The kernel goes back to delaying after a while (tcp(7)).
    private func acknowledgeAtOnce(_ context: ChannelHandlerContext) {
        #if os(Linux)
        context.channel.syncOptions.map { try? $0.setOption(.tcpOption(Self.quickAcknowledgment), value: 1) }
        #endif
    }

    /// TCP_QUICKACK
    private static let quickAcknowledgment = NIOBSDSocket.Option(rawValue: 12)

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        acknowledgeAtOnce(context)
        driver.received(Array(unwrapInboundIn(data).readableBytesView), on: place)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        end(.fin)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.reset)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { end(.fin) }

    private func end(_ ending: Ending) {
        if hasEnded { return }
        hasEnded = true
        driver.ended(ending, on: place)
    }
}
