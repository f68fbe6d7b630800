import Packets
import Streams

/// Delivers the events of batches to a receiver as if they happened now.
package final class BatchReplay {
    private let queue: BatchQueue
    private let receiver: any StreamReceiver
    // While they change, no receiver is called but to be packed, which changes none of them.
    @exclusivity(unchecked) private var connections: ReplayedConnections

    /// A replay of the batches from a queue.
    ///
    /// - Parameter awakeLimit: of how many connections the receivers stay ready for the next event although nothing happens; it
    ///   changes no result.
    package init(_ queue: BatchQueue, to receiver: any StreamReceiver, awakeLimit: Int = AwakeConnections.usualLimit) {
        self.queue = queue
        self.receiver = receiver
        connections = ReplayedConnections(awakeLimit: awakeLimit)
    }

    /// Delivers all batches up to the last.
    ///
    /// - Parameter isDone: called before each batch; true if the rest is not wanted.
    package func run(unless isDone: () -> Bool) {
        while true {
            let batch = queue.takeFilled()
            let isLast = batch.isLast
            if !isDone() { play(batch) }
            queue.putFree(batch)
            if isLast { return }
        }
    }

    private func play(_ batch: EventBatch) {
        let content = batch.content
        let bytes = content.bytes
        for event in content.events {
            if event.advances { receiver.advance(to: event.time) }
            let slot = Int(event.slot)
            switch event.kind {
            case .received:
                connections.visit(slot, chunks: 1)?.received(
                    bytes.span.bytes.extracting(event.place..<event.place + event.count), from: event.direction,
                    at: event.time, packet: event.packet)
            case .learned:
                receiver.learned(
                    keyLog: bytes.span.bytes.extracting(event.place..<event.place + event.count))
            case .advanced: receiver.advance(to: event.time)
            case .opened:
                let opening = content.openings[event.place]
                connections.open(receiver.open(opening), at: slot, since: opening.time)
            case .missing:
                connections.visit(slot)?.missing(event.count, from: event.direction, at: event.time)
            case .noticed:
                connections.visit(slot)?.noticed(
                    content.notices[event.place], from: event.direction, at: event.time, packet: event.packet)
            case .finished:
                connections.visit(slot)?.finished(event.ending, from: event.direction, at: event.time)
            case .closed:
                connections.visit(slot)?.closed(content.closings[event.place])
                connections.close(slot)
            }
        }
    }
}
