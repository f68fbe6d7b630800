import Framing
import NIOCore
import NIOPosix
import Streams
import Trace
import TraceDiff

/// Listens, and answers clients as the recorded server did.
package enum ReplayServer {
    /// Serves until the task is cancelled.
    ///
    /// - Parameter bound: called with the bound address, as text, before any client is accepted.
    /// - Returns: how many requests were not in the recording.
    package static func serve(
        _ recording: Recording, host: String, port: Int, _ options: ReplayOptions,
        bound: @Sendable (String, Int) -> Void
    ) async throws -> Int {
        // All on one event loop: state shared by connections needs no lock.
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let shared = NIOLoopBoundBox.makeBoxSendingValue(
            SharedState(beginning: ReplayServerState(recording, unknown: options.unknown, hidden: options.hidden)),
            eventLoop: loop)
        let builder = FrameBuilder(options.format, recording)
        let listener = try await ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            // A client that has sent everything still waits for the answers.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ReplayServerHandler(options, builder, shared)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: host, port: port).get()
        bound(listener.localAddress?.ipAddress ?? host, listener.localAddress?.port ?? port)
        try await withTaskCancellationHandler {
            try await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        let closed = try await loop.submit {
            let channels = Array(shared.value.channels.values)
            for channel in channels { channel.close(promise: nil) }
            return channels.map(\.closeFuture)
        }.get()
        // What clients have begun and not ended counts, too.
        for future in closed { try? await future.get() }
        return try await loop.submit { shared.value.unknown }.get()
    }

    /// State shared by the connections.
    fileprivate struct SharedState {
        /// How each connection begins: the whole recording is read only once.
        let beginning: ReplayServerState
        /// Recorded connections that a client is following, or has followed.
        var taken: Set<Int> = []
        /// Recorded connections that a client is following now.
        var live: Set<Int> = []
        var unknown = 0
        /// How many requests have arrived for each recorded connection.
        var requests: [Int: Int] = [:]
        /// The bound values that the clients have sent.
        var values = Echoes.Values()
        var channels: [ObjectIdentifier: any Channel] = [:]
    }
}

/// One connection of a replaying server.
private final class ReplayServerHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let options: ReplayOptions
    private let builder: FrameBuilder
    private let shared: NIOLoopBoundBox<ReplayServer.SharedState>
    private var state: ReplayServerState
    private var incoming: IncomingFrames?
    /// The pending messages, in order: none overtakes an earlier one, except for answers to heartbeats.
    private var waiting = SendQueue<Waiting>()
    /// Whether the client has ended its side: the connection closes once nothing is pending.
    private var isClientDone = false
    /// Succeeds once the kernel has taken everything that was sent; nil if nothing was.
    private var lastWrite: EventLoopFuture<Void>?
    /// Whether the connection closes as soon as that is so: nothing else is sent or read.
    private var isClosing = false
    /// The recorded connection that is followed, and whether no other client follows it, or has followed it.
    private var followed: (place: Int, isOwn: Bool)?
    /// The next look at them, and when that is.
    private var nextLook: (task: Scheduled<Void>, at: NIODeadline)?

    private struct Waiting {
        /// Nil: the connection must be closed.
        var answer: RecordedAnswers.Answer?
        /// The bound values that were known when it was requested.
        var known = Echoes.Values()
        var due: NIODeadline
        /// When the recorded server had sent it.
        var latest: NIODeadline
    }

    init(
        _ options: ReplayOptions, _ builder: FrameBuilder, _ shared: NIOLoopBoundBox<ReplayServer.SharedState>
    ) {
        self.options = options
        self.builder = builder
        self.shared = shared
        state = shared.value.beginning
    }

    func channelActive(context: ChannelHandlerContext) {
        shared.value.channels[ObjectIdentifier(context.channel)] = context.channel
        incoming = IncomingFrames(options.format, from: .fromClient, at: .now())
        perform(state.opened(shared.value.taken), context)
        watchForPauses(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(context)
        nextLook?.task.cancel()
        nextLook = nil
        shared.value.channels[ObjectIdentifier(context.channel)] = nil
        if let followed = state.followed { shared.value.live.remove(followed) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isClosing else { return }
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        take(incoming?.take(bytes.span.bytes, at: .now()), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        isClientDone = true
        finish(context)
        sayWhatIsDue(context)
    }

    /// Takes what the client has begun, and will not end.
    private func finish(_ context: ChannelHandlerContext) {
        let rest = incoming?.finish(at: .now())
        incoming = nil
        take(rest, context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// Frames of some formats are ended by a pause.
    private func watchForPauses(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(50)) {
            let (handler, context) = bound.value
            guard context.channel.isActive else { return }
            handler.take(handler.incoming?.advance(to: .now()), context)
            handler.watchForPauses(context)
        }
    }

    private func take(_ items: [RecordedItem]?, _ context: ChannelHandlerContext) {
        for item in items ?? [] {
            let taken = shared.value.taken
            perform(state.received(item, taken, &shared.value.values), context)
        }
    }

    private func perform(_ actions: [ReplayServerState.Action], _ context: ChannelHandlerContext) {
        noteFollowed()
        let now = NIODeadline.now()
        func due(after pause: Interval) -> NIODeadline {
            options.isFast ? now : now + .nanoseconds(max(0, pause.nanoseconds))
        }
        for action in actions {
            switch action {
            case .report(let text):
                shared.value.unknown += 1
                options.log(text)
            case .send(let answer, let known):
                let next = Waiting(
                    answer: answer, known: known, due: due(after: answer.after),
                    latest: now + .nanoseconds(max(0, answer.after.nanoseconds)))
                waiting.append(next, isPrompt: answer.isPrompt)
            case .close(let pause):
                waiting.append(Waiting(due: due(after: pause), latest: now))
            }
        }
        sayWhatIsDue(context)
    }

    /// Makes the recorded connection that is followed known to the other clients' connections.
    private func noteFollowed() {
        guard let place = state.followed else { return }
        if let before = followed, before.place != place {
            // It was only assumed: another client may follow it, and when it closes says nothing about this one.
            shared.value.live.remove(before.place)
            if before.isOwn { shared.value.taken.remove(before.place) }
            waiting.removeAll { $0.answer == nil }
            followed = nil
        }
        let isNew = shared.value.taken.insert(place).inserted
        if followed == nil { followed = (place, isNew) }
        shared.value.live.insert(place)
        shared.value.requests[place] = state.requestCount
    }

    /// Sends the messages that are due, one after the other; looks again soon if one has to wait.
    private func sayWhatIsDue(_ context: ChannelHandlerContext) {
        let now = NIODeadline.now()
        while !isClosing, let first = waiting.first, first.due <= now, isAsked(for: first, at: now) {
            _ = waiting.popFirst()
            guard let answer = first.answer else { return close(context) }
            send(answer.item, filled: state.filled(answer, first.known, shared.value.values), context)
        }
        if isClosing { return }
        guard let first = waiting.first else {
            if isClientDone { close(context) }
            return
        }
        let at = max(first.due, now + .milliseconds(2))
        if let nextLook {
            // The answer to a heartbeat may have come before what is waited for.
            guard at < nextLook.at else { return }
            nextLook.task.cancel()
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let task = context.eventLoop.scheduleTask(deadline: at) {
            let (handler, context) = bound.value
            handler.nextLook = nil
            if context.channel.isActive { handler.sayWhatIsDue(context) }
        }
        nextLook = (task, at)
    }

    private func send(_ item: RecordedItem, filled: RecordedItem, _ context: ChannelHandlerContext) {
        do {
            let bytes = try builder.bytes(of: item, filled: filled)
            let completed = incoming?.note(sent: bytes.span.bytes, at: .now())
            let written = context.eventLoop.makePromise(of: Void.self)
            lastWrite = written.futureResult
            context.writeAndFlush(
                wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: written)
            take(completed, context)
        } catch {
            options.log("\(error)")
        }
    }

    /// Closes once everything is sent: NIO drops what the kernel has not taken by then.
    private func close(_ context: ChannelHandlerContext) {
        isClosing = true
        let channel = context.channel
        guard let lastWrite else { return channel.close(promise: nil) }
        lastWrite.whenComplete { _ in channel.close(promise: nil) }
    }

    /// Whether the other clients have made the requests that this message follows; absent clients are not waited for long.
    private func isAsked(for next: Waiting, at now: NIODeadline) -> Bool {
        guard let answer = next.answer else { return true }
        let missing = state.unasked(before: answer, arrived: shared.value.requests)
        if missing.isEmpty { return true }
        // A connected client may take its time.
        let patience = options.patience * (missing.contains { shared.value.live.contains($0) } ? 5 : 1)
        return now >= next.latest + .nanoseconds(Int64(patience * 1e9))
    }
}

extension Timestamp {
    /// The time of day.
    package static func now() -> Timestamp {
        let parts = NIODeadline.now().uptimeNanoseconds
        return Timestamp(nanoseconds: Int64(truncatingIfNeeded: parts))
    }
}
