import DequeModule
import Interception
import NIOCore
import Platform
import Streams

/// Performs the actions of a connection's stages on its two channels. Used on their event loop only.
final class StageDriver {
    /// One direction's writes.
    private struct Gate {
        /// Whether what was written has to be read before more is written.
        var isShut = false
        /// What to report once that is known.
        var report: ActionReport?
        /// What waits for that, and how many bytes of memory it takes.
        var waiting: Deque<StageChain.Output> = []
        var waitingBytes = 0
        /// How many cuts there were since the last report, and how many of them are proven.
        var cuts = 0
        var proven = 0
        /// Whether the receiver has not read in time since then.
        var isUnproven = false
        /// Whether what waits is being written: the next receipt may be proven at once, and does not begin that again.
        var isOpening = false
        /// When a RST among what waits does not wait any longer.
        var resetDeadline: Scheduled<Void>?
        /// Whether the stages, or too many waiting bytes, keep its sender from being read.
        var isPausedByStages = false
        var isFull = false
    }

    private var chain: StageChain
    private let eventLoop: any EventLoop
    private weak var client: RelayHandler?
    private weak var server: RelayHandler?
    private var wake: (time: Timestamp, task: Scheduled<Void>)?
    private var gates = PerDirection(fromClient: Gate(), fromServer: Gate())
    /// Records what the stages did, and what they passed on.
    private let recording: any RelayRecording
    /// Says instead of the kernel whether a receiver has read everything; nil: the kernel is asked.
    private let proof: ((RelayHandler) -> Bool?)?
    private lazy var diagnosis = SocketDiagnosis()
    /// How long a RST waits for what is to be written before it.
    private let deliveryTimeout: TimeAmount

    /// How long a receiver may take to read what was written, before the next write.
    private static let patience = TimeAmount.seconds(1)
    /// The pause between two writes where it cannot be known whether the first one was read.
    private static let pause = TimeAmount.milliseconds(1)
    /// If what waits for writes before it to be read takes more memory than this, reading its sender pauses.
    private static let mostWaiting = 256 << 10

    /// - Parameters:
    ///   - deliveryTimeout: how long a RST waits for what is to be written before it, in seconds.
    ///   - proof: says instead of the kernel whether a receiver has read everything, and nil if that cannot be known.
    init(
        _ chain: StageChain, on eventLoop: any EventLoop, from client: RelayHandler, to server: RelayHandler,
        _ recording: any RelayRecording, deliveryTimeout: Double, proof: ((RelayHandler) -> Bool?)? = nil
    ) {
        (self.chain, self.eventLoop, self.client, self.server) = (chain, eventLoop, client, server)
        (self.recording, self.proof) = (recording, proof)
        self.deliveryTimeout = .nanoseconds(Int64(deliveryTimeout * 1e9))
    }

    private func record(_ report: ActionReport) { recording.noticed(.action(report), from: report.direction) }

    /// One of the ends may be gone. Whatever the stages still hold reaches no one once both are.
    func checkEnds() {
        if client?.channel == nil, server?.channel == nil { recording.passedOnLast() }
    }

    /// Passes an event to the stages, and performs the resulting actions.
    func take(_ event: StageEvent) {
        perform(chain.take(event, at: now))
        scheduleWake()
    }

    /// Passes a decision to the stages, and performs the resulting actions.
    ///
    /// - Returns: what came of it.
    func decide(_ decision: StageCommand) -> StageCommand.Outcome {
        let outputs = chain.take(.command(decision), at: now)
        perform(outputs)
        scheduleWake()
        for case .decided(let outcome) in outputs { return outcome }
        return .notStopped
    }

    /// Passes bytes that were read to the stages, performs the resulting actions, and records both.
    ///
    /// - Parameter isRecorded: whether what both sides send is still recorded.
    func take(_ buffer: ByteBuffer, from direction: Direction, isRecorded: Bool) {
        let isShut =
            direction == .fromClient
            ? gates.fromClient.isShut || !gates.fromClient.waiting.isEmpty
            : gates.fromServer.isShut || !gates.fromServer.waiting.isEmpty
        let outputs = buffer.withUnsafeReadableBytes { chain.pass($0.bytes, direction, at: now) }
        if outputs == nil, !isShut, let receiver = receiver(of: direction), receiver.channel != nil {
            // It is flushed when its sender has been read.
            receiver.write(buffer)
            return recording.relayed(buffer, from: direction, isReceived: isRecorded)
        }
        // What stages do is recorded after the bytes that they do it to.
        if isRecorded { recording.received(buffer, from: direction) }
        perform(outputs ?? [.write(Array(buffer.readableBytesView), direction)])
        scheduleWake()
    }

    /// The event loop's clock, which never goes back.
    private var now: Timestamp { Timestamp(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }

    private func sender(of direction: Direction) -> RelayHandler? { direction == .fromClient ? client : server }

    private func receiver(of direction: Direction) -> RelayHandler? { sender(of: direction.opposite) }

    private func perform(_ outputs: [StageChain.Output]) {
        for output in outputs {
            if let direction = gate(of: output) {
                gates[direction].waiting.append(output)
                gates[direction].waitingBytes += output.cost
                if output.isReset { limitWait(of: direction) }
                adjustReading(of: direction)
            } else {
                perform(output)
            }
        }
    }

    /// The direction whose gate keeps an output from being performed; nil if none does.
    private func gate(of output: StageChain.Output) -> Direction? {
        guard let direction = output.written else { return nil }
        if gates[direction].isShut { return direction }
        // A reset ends both sides: one that follows that of the other direction does not overtake what that waits for.
        if case .end(.reset, _) = output, gates[direction.opposite].waiting.contains(where: \.isReset) {
            return direction.opposite
        }
        return nil
    }

    private func perform(_ output: StageChain.Output) {
        switch output {
        case .write(let bytes, let direction, _):
            // Each emission is a write of its own, so that the segmentation chosen by a stage is kept.
            guard let receiver = receiver(of: direction), receiver.channel != nil else { return }
            let buffer = ByteBuffer(bytes: bytes)
            // What passed as it was may not have been flushed: together it would be one write.
            receiver.flush()
            receiver.write(buffer)
            receiver.flush()
            recording.passedOn(buffer, from: direction)
        case .cut(let direction, let report):
            (gates[direction].isShut, gates[direction].report) = (true, report)
            awaitReceipt(direction, since: eventLoop.now)
        case .end(let ending, let direction):
            if ending == .reset {
                gates[direction].resetDeadline?.cancel()
                sender(of: direction)?.wasResetByStage()
            }
            if client?.isStopping != true { recording.passedOn(ending, from: direction) }
            receiver(of: direction)?.end(ending)
        case .pause(let direction):
            gates[direction].isPausedByStages = true
            adjustReading(of: direction)
        case .resume(let direction):
            gates[direction].isPausedByStages = false
            adjustReading(of: direction)
        case .report(let report): record(report)
        case .decided: break
        case .released(let count, let direction):
            record(.byChain("release", direction, count, passed: count, "held for as long as --hold-timeout allows"))
        case .discarded(let count, let direction):
            record(.byChain("discard", direction, count, passed: 0, "the connection's end could not wait for them"))
        }
    }

    private func adjustReading(of direction: Direction) {
        let gate = gates[direction]
        gates[direction].isFull = gate.waitingBytes > (gate.isFull ? Self.mostWaiting / 2 : Self.mostWaiting)
        sender(of: direction)?.pauseReading(gates[direction].isPausedByStages || gates[direction].isFull)
    }

    // MARK: Cuts

    /// Waits until the receiver of a direction has read what was written to it.
    private func awaitReceipt(_ direction: Direction, since start: NIODeadline) {
        let waited = eventLoop.now - start
        // A receiver that does not read is waited for once in a frame, and not at each of its cuts.
        let patience = gates[direction].isUnproven ? Self.pause : Self.patience
        guard let receiver = receiver(of: direction), waited < patience else {
            if waited >= Self.patience { gates[direction].isUnproven = true }
            return open(direction, isProven: false)
        }
        guard let hasRead = hasRead(receiver) else {
            if waited >= Self.pause { return open(direction, isProven: false) }
            return again(direction, since: start, in: Self.pause)
        }
        if hasRead { return open(direction, isProven: true) }
        again(direction, since: start, in: waited < .milliseconds(5) ? .microseconds(50) : .milliseconds(1))
    }

    /// Whether a receiver has read everything that was written to it; nil if that cannot be known.
    private func hasRead(_ receiver: RelayHandler) -> Bool? {
        if let proof { return proof(receiver) }
        return diagnosis.flatMap { receiver.hasBeenRead($0) }
    }

    private func again(_ direction: Direction, since start: NIODeadline, in time: TimeAmount) {
        eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            self?.awaitReceipt(direction, since: start)
        }
    }

    private func open(_ direction: Direction, isProven: Bool) {
        gates[direction].cuts += 1
        if isProven { gates[direction].proven += 1 }
        if var report = gates[direction].report {
            gates[direction].report = nil
            let (cuts, proven) = (gates[direction].cuts, gates[direction].proven)
            report.isProven = cuts == proven
            if cuts != proven { report.detail += ", \(proven) of \(cuts) proven" }
            record(report)
            (gates[direction].cuts, gates[direction].proven) = (0, 0)
            gates[direction].isUnproven = false
        }
        gates[direction].isShut = false
        guard !gates[direction].isOpening else { return }
        gates[direction].isOpening = true
        defer { gates[direction].isOpening = false }
        while !gates[direction].isShut, let output = gates[direction].waiting.popFirst() {
            gates[direction].waitingBytes -= output.cost
            perform(output)
        }
        adjustReading(of: direction)
    }

    /// A RST waits for what is to be written before it, but not for long.
    private func limitWait(of direction: Direction) {
        guard gates[direction].resetDeadline == nil else { return }
        gates[direction].resetDeadline = eventLoop.assumeIsolated().scheduleTask(in: deliveryTimeout) { [weak self] in
            guard let self else { return }
            self.cutOff(direction)
        }
    }

    /// A RST stops waiting: what was to be written before it is lost.
    private func cutOff(_ direction: Direction) {
        let waiting = gates[direction].waiting
        let lost = waiting.reduce(0) { $0 + $1.byteCount }
        // What rules did is reported before the end; whether the pieces were read by themselves will not be known.
        let reports = [gates[direction].report] + waiting.map(\.cutReport)
        (gates[direction].waiting, gates[direction].waitingBytes, gates[direction].report) = ([], 0, nil)
        for var report in reports.compactMap(\.self) {
            report.isProven = false
            record(report)
        }
        if lost > 0 { perform(.discarded(lost, direction)) }
        perform(.end(.reset, direction))
        for case .end(.reset, direction.opposite) in waiting { perform(.end(.reset, direction.opposite)) }
        adjustReading(of: direction)
    }

    private func scheduleWake() {
        let next = chain.nextWake
        if let wake, wake.time == next { return }
        wake?.task.cancel()
        wake = nil
        guard let next else { return }
        let deadline = NIODeadline.uptimeNanoseconds(UInt64(clamping: next.nanoseconds))
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
            self?.wake = nil
            self?.take(.wake)
        }
        wake = (next, task)
    }
}

extension ActionReport {
    /// What was done to bytes of a direction whatever the rules say.
    fileprivate static func byChain(
        _ action: String, _ direction: Direction, _ length: Int, passed: Int, _ detail: String
    ) -> ActionReport {
        ActionReport(
            rule: limits, action: action, direction: direction, time: Timestamp(nanoseconds: 0), offset: 0,
            length: length,
            passed: passed, detail: detail)
    }
}

extension StageChain.Output {
    /// The direction to whose receiver something is written, or whose writes are cut or ended.
    fileprivate var written: Direction? {
        switch self {
        case .write(_, let direction, _), .cut(let direction, _), .end(_, let direction): direction
        case .pause, .resume, .released, .discarded, .report, .decided: nil
        }
    }

    /// Whether it resets the receiver of a direction.
    fileprivate var isReset: Bool { if case .end(.reset, _) = self { true } else { false } }

    fileprivate var byteCount: Int { if case .write(let bytes, _, _) = self { bytes.count } else { 0 } }

    /// What is to be reported with a cut; nil if nothing is, or it is something else.
    fileprivate var cutReport: ActionReport? { if case .cut(_, let report) = self { report } else { nil } }

    /// About how many bytes of memory it takes: most of them are short.
    fileprivate var cost: Int { byteCount + MemoryLayout<StageChain.Output>.stride }
}
