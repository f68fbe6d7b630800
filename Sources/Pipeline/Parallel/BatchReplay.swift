import Streams

/// Delivers the events of batches to a receiver as if they happened now.
package final class BatchReplay {
    private let queue: BatchQueue
    private let receiver: any StreamReceiver
    private var connections: [(any ConnectionReceiver)?] = []

    /// A replay of the batches from a queue.
    package init(_ queue: BatchQueue, to receiver: any StreamReceiver) {
        self.queue = queue
        self.receiver = receiver
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
            switch event.kind {
            case .received:
                connections[Int(event.slot)]?.received(
                    bytes.span.bytes.extracting(event.place..<event.place + event.count), from: event.direction,
                    at: event.time, packet: event.packet)
            case .learned:
                receiver.learned(
                    keyLog: bytes.span.bytes.extracting(event.place..<event.place + event.count))
            case .advanced: receiver.advance(to: event.time)
            case .opened:
                while connections.count <= Int(event.slot) { connections.append(nil) }
                connections[Int(event.slot)] = receiver.open(content.openings[event.place])
            case .missing:
                connections[Int(event.slot)]?.missing(event.count, from: event.direction, at: event.time)
            case .noticed:
                connections[Int(event.slot)]?.noticed(
                    content.notices[event.place], from: event.direction, at: event.time, packet: event.packet)
            case .finished:
                connections[Int(event.slot)]?.finished(event.ending, from: event.direction, at: event.time)
            case .closed:
                connections[Int(event.slot)]?.closed(content.closings[event.place])
                connections[Int(event.slot)] = nil
            }
        }
    }
}
