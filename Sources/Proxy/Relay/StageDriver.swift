import Interception
import NIOCore
import Streams

/// Performs the actions of a connection's stages on its two channels. Used on their event loop only.
final class StageDriver {
    private var chain: StageChain
    private let eventLoop: any EventLoop
    private weak var client: RelayHandler?
    private weak var server: RelayHandler?
    private var wake: (time: Timestamp, task: Scheduled<Void>)?

    /// Records what the stages did.
    private let record: (ActionReport) -> Void

    init(
        _ chain: StageChain, on eventLoop: any EventLoop, from client: RelayHandler, to server: RelayHandler,
        record: @escaping (ActionReport) -> Void
    ) {
        (self.chain, self.eventLoop, self.client, self.server) = (chain, eventLoop, client, server)
        self.record = record
    }

    /// Passes an event to the stages, and performs the resulting actions.
    func take(_ event: StageEvent) {
        perform(chain.take(event, at: now))
        scheduleWake()
    }

    /// The event loop's clock, which never goes back.
    private var now: Timestamp { Timestamp(nanoseconds: Int64(clamping: eventLoop.now.uptimeNanoseconds)) }

    private func sender(of direction: Direction) -> RelayHandler? { direction == .fromClient ? client : server }

    private func receiver(of direction: Direction) -> RelayHandler? { sender(of: direction.opposite) }

    private func perform(_ outputs: [StageChain.Output]) {
        for output in outputs {
            switch output {
            case .write(let bytes, let direction, _):
                // Each emission is a write of its own, so that the segmentation chosen by a stage is kept.
                receiver(of: direction)?.write(ByteBuffer(bytes: bytes))
                receiver(of: direction)?.flush()
            case .end(let ending, let direction):
                if ending == .reset { sender(of: direction)?.wasResetByStage() }
                receiver(of: direction)?.end(ending)
            case .pause(let direction): sender(of: direction)?.pauseReading(true)
            case .resume(let direction): sender(of: direction)?.pauseReading(false)
            case .report(let report): record(report)
            case .released, .discarded: break
            }
        }
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
