import Framing
import NIOCore
import NIOPosix
import Pipeline
import Streams
import Trace
import TraceDiff

/// Plays the recorded clients against a real server.
package enum ReplayClient {
    /// Plays all connections of a recording, each beginning when the recorded one did.
    ///
    /// - Returns: the trace of the actual conversation.
    package static func play(
        _ recording: Recording, host: String, port: Int, _ options: ReplayOptions
    ) async throws -> RecordedTrace {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let record = NIOLoopBoundBox.makeBoxSendingValue(ReplayRecord(options.format), eventLoop: loop)
        let progress = NIOLoopBoundBox.makeBoxSendingValue(
            recording.connections.map(\.opened), eventLoop: loop)
        let builder = FrameBuilder(options.format, recording)
        let values = NIOLoopBoundBox.makeBoxSendingValue(Echoes.Values(), eventLoop: loop)
        let start = recording.connections.map(\.opened).min() ?? Timestamp(nanoseconds: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, connection) in recording.connections.enumerated() {
                group.addTask {
                    let delay = connection.opened - start
                    if !options.isFast { try await Task.sleep(for: .nanoseconds(max(0, delay.nanoseconds))) }
                    // One connection may wait for messages on another.
                    while !(try await loop.submit { progress.value.allows(place, connection.opened) }.get()) {
                        try await Task.sleep(for: .milliseconds(2))
                    }
                    let script = ReplayScript(
                        connection: connection, place: place, rules: recording.rules, builder: builder,
                        progress: progress, values: values)
                    try await play(script, on: loop, host, port, options, record)
                    try await loop.submit { progress.value[place] = .distantFuture }.get()
                }
            }
            // `waitForAll` would wait for the others if one fails, and they wait for that one.
            for try await _ in group {}
        }
        return try await loop.submit { record.value.finish() }.get()
    }

    private static func play(
        _ script: ReplayScript, on loop: any EventLoop, _ host: String, _ port: Int, _ options: ReplayOptions,
        _ record: NIOLoopBoundBox<ReplayRecord>
    ) async throws {
        let channel = try await ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ReplayClientHandler(script, options, record)
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: host, port: port).get()
        try await withTaskCancellationHandler {
            try await channel.closeFuture.get()
        } onCancel: {
            channel.close(promise: nil)
        }
    }
}

/// The script of one connection, and what all of them share.
private struct ReplayScript: Sendable {
    var connection: RecordedConnection
    var place: Int
    var rules: TraceRules
    var builder: FrameBuilder
    /// The recorded time of the first event on each connection that has not happened yet.
    var progress: NIOLoopBoundBox<[Timestamp]>
    /// The bound values that the server sent, on any connection.
    var values: NIOLoopBoundBox<Echoes.Values>
}

extension [Timestamp] {
    /// Whether all earlier events on other connections have happened.
    fileprivate func allows(_ place: Int, _ time: Timestamp) -> Bool {
        indices.allSatisfy { $0 == place || self[$0] >= time }
    }
}

/// The trace of the actual conversation, while it is being recorded.
final class ReplayRecord {
    private let reading = TraceReading(of: "what the server said")
    private let decoder: Decoder
    private var count = 0
    /// The clients' messages, by connection.
    private var sent: [Int: [RecordedItem]] = [:]

    init(_ format: Format) {
        decoder = Decoder(DecodingOptions(.fixed(format)), sinks: [reading.sink(tool: "frametap", bodyLimit: .max)])
    }

    /// Begins a connection.
    ///
    /// - Returns: what takes its bytes, and its number.
    func open() -> (receiver: any ConnectionReceiver, number: Int) {
        count += 1
        let nobody = Endpoint(IPAddress(v4: 0x7f00_0001), 0)
        return (decoder.open(Opening(number: count, time: .now(), client: nobody, server: nobody)), count)
    }

    func advance() { decoder.advance(to: .now()) }

    /// A message of the recording was sent on a connection.
    func note(sent item: RecordedItem, on number: Int) {
        sent[number, default: []].append(item.sent(at: .now(), on: number))
    }

    /// The conversation: what the server said, and the client's messages as the recording has them. The replay writes these
    /// itself, perhaps in other bytes: a trace has no spaces between the values of JSON, for example.
    func finish() -> RecordedTrace {
        decoder.finish()
        var trace = reading.trace
        for place in trace.connections.indices {
            var all = sent[trace.connections[place].number] ?? []
            all += trace.connections[place].items.filter { $0.from == .fromServer }
            let inOrder = all.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            trace.connections[place].items = RecordedItems(inOrder.map(\.element))
        }
        return trace
    }
}

extension RecordedItem {
    /// The same message, sent at another time.
    fileprivate func sent(at time: Timestamp, on connection: Int) -> RecordedItem {
        switch self {
        case .frame(var frame):
            (frame.connection, frame.leg, frame.time, frame.started) = (connection, nil, time, time)
            return .frame(frame)
        case .unframed(var run):
            (run.connection, run.leg, run.time) = (connection, nil, time)
            return .unframed(run)
        case .missing: return self
        }
    }
}

/// One connection of a replaying client.
private final class ReplayClientHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let options: ReplayOptions
    private let script: ReplayScript
    private let recorded: RecordedConnection
    private let record: NIOLoopBoundBox<ReplayRecord>
    private var state: ReplayClientState
    private var incoming: IncomingFrames?
    private var receiver: (any ConnectionReceiver)?
    private var number = 0
    private var waiting: Scheduled<Void>?
    private var heardWhenWaiting = 0
    /// The recorded time of the next message to send.
    private var sending: Timestamp?
    private var firstToFinish: Direction?
    private var isOver = false
    private var hasEnded = false

    init(
        _ script: ReplayScript, _ options: ReplayOptions, _ record: NIOLoopBoundBox<ReplayRecord>
    ) {
        self.script = script
        recorded = script.connection
        self.options = options
        self.record = record
        state = ReplayClientState(recorded, script.rules)
    }

    func channelActive(context: ChannelHandlerContext) {
        incoming = IncomingFrames(options.format, from: .fromServer, at: .now())
        let opened = record.value.open()
        receiver = opened.receiver
        number = opened.number
        advance(context)
        watchForPauses(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(unwrapInboundIn(data).readableBytesView)
        record.value.advance()
        receiver?.received(bytes.span.bytes, from: .fromServer, at: .now(), packet: 0)
        take(incoming?.take(bytes.span.bytes, at: .now()), context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
        finished(.fromServer, .fin)
        state.giveUpWaiting()
        end(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        finished(.fromServer, .reset)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        waiting?.cancel()
        guard !isOver else { return }
        isOver = true
        if firstToFinish == nil { finished(.fromServer, .fin) }
        let reason: CloseReason = wasReset ? .reset : .fin
        receiver?.closed(Closing(reason: reason, by: firstToFinish, time: .now()))
    }

    private var wasReset = false

    private func finished(_ direction: Direction, _ ending: Ending) {
        guard !isOver else { return }
        receiver?.finished(ending, from: direction, at: .now())
        if ending == .reset { wasReset = true }
        firstToFinish = firstToFinish ?? direction
    }

    private func watchForPauses(_ context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(50)) {
            let (handler, context) = bound.value
            guard context.channel.isActive else { return }
            handler.record.value.advance()
            handler.take(handler.incoming?.advance(to: .now()), context)
            handler.watchForPauses(context)
        }
    }

    private func take(_ items: [RecordedItem]?, _ context: ChannelHandlerContext) {
        // If nothing arrived, the wait is not extended.
        guard let items, !items.isEmpty else { return }
        for item in items { state.received(item, &script.values.value) }
        noteProgress()
        advance(context)
    }

    private func noteProgress() {
        // The next message has not been sent yet.
        script.progress.value[script.place] = min(sending ?? .distantFuture, state.pendingTime)
    }

    /// Continues with the script as far as it is due.
    private func advance(_ context: ChannelHandlerContext) {
        guard sending == nil, !isOver, !hasEnded else { return }
        let step = state.step()
        if case .send(let item, _) = step { sending = item.time }
        noteProgress()
        // Heartbeats do not extend the wait.
        if case .wait = step, waiting != nil, state.heard == heardWhenWaiting { return }
        waiting?.cancel()
        waiting = nil
        heardWhenWaiting = state.heard
        switch step {
        case .send(let item, let pause):
            let delay = options.isFast ? 0 : max(0, pause.nanoseconds)
            after(.nanoseconds(delay), context) { $0.sendInTurn(item, $1) }
        case .wait:
            let recordedPause = options.isFast ? 0 : longestPause.nanoseconds
            let patience = TimeAmount.nanoseconds(Int64(options.patience * 1e9) + recordedPause)
            waiting = after(patience, context) { handler, context in
                handler.waiting = nil
                handler.state.giveUpWaiting()
                handler.advance(context)
            }
        case .done:
            // The side that closed first in the recording must do so again, and may take as long as it did there.
            if let pause = state.closes, firstToFinish == nil {
                let recordedPause = options.isFast ? 0 : pause.nanoseconds
                let patience = TimeAmount.nanoseconds(Int64(options.patience * 1e9) + recordedPause)
                waiting = after(patience, context) { $0.end($1) }
            } else {
                end(context)
            }
        }
    }

    /// The longest time that the recorded server took.
    private lazy var longestPause: Interval = {
        var (last, longest) = (recorded.opened, Interval(nanoseconds: 0))
        for item in recorded.items {
            longest = max(longest, item.time - last)
            last = item.time
        }
        return longest
    }()

    @discardableResult
    private func after(
        _ pause: TimeAmount, _ context: ChannelHandlerContext,
        _ work: @escaping @Sendable (ReplayClientHandler, ChannelHandlerContext) -> Void
    ) -> Scheduled<Void> {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        return context.eventLoop.scheduleTask(in: pause) {
            let (handler, context) = bound.value
            if context.channel.isActive { work(handler, context) }
        }
    }

    /// Sends once all earlier events on other connections have happened.
    private func sendInTurn(_ item: RecordedItem, _ context: ChannelHandlerContext) {
        guard script.progress.value.allows(script.place, item.time) else {
            after(.milliseconds(2), context) { $0.sendInTurn(item, $1) }
            return
        }
        sending = nil
        send(item, context)
        advance(context)
    }

    private func send(_ item: RecordedItem, _ context: ChannelHandlerContext) {
        do {
            let filled = state.filled(item, script.values.value)
            let bytes = try script.builder.bytes(of: item, filled: filled)
            record.value.advance()
            record.value.note(sent: filled, on: number)
            receiver?.received(bytes.span.bytes, from: .fromClient, at: .now(), packet: 0)
            let completed = incoming?.note(sent: bytes.span.bytes, at: .now())
            context.channel.writeAndFlush(context.channel.allocator.buffer(bytes: bytes), promise: nil)
            take(completed, context)
        } catch {
            options.log("\(error)")
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        guard !hasEnded else { return }
        hasEnded = true
        finished(.fromClient, .fin)
        let channel = context.channel
        let unsent = Self.unsent(on: channel)
        if firstToFinish == .fromClient {
            channel.close(mode: .output, promise: nil)
        } else if unsent == 0 {
            return channel.close(promise: nil)
        }
        Self.closeLater(channel, unsent: unsent)
    }

    /// How many bytes the kernel has not taken yet.
    private static func unsent(on channel: any Channel) -> Int {
        (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    /// At most how often it is looked whether a server takes more that has stopped taking any.
    private static let mostLooks = 10

    /// Closes a second after the server has taken everything: it may still have something to send. One that takes nothing
    /// for long is not waited for.
    private static func closeLater(_ channel: any Channel, unsent before: Int, looks: Int = 0) {
        channel.eventLoop.scheduleTask(in: .seconds(1)) {
            guard channel.isActive else { return }
            let unsent = ReplayClientHandler.unsent(on: channel)
            let looks = unsent < before ? 0 : looks + 1
            if before == 0 || looks >= ReplayClientHandler.mostLooks { return channel.close(promise: nil) }
            ReplayClientHandler.closeLater(channel, unsent: unsent, looks: looks)
        }
    }
}
