import Streams

/// Delivers the events of batches to a receiver as if they happened now.
package final class BatchReplay {
    private let queue: BatchQueue
    private let receiver: any StreamReceiver
    // No receiver is called while they change.
    @exclusivity(unchecked) private var connections: [Connection] = []
    /// Those whose receivers are not dormant.
    private var awake: AwakePlaces
    /// How many connections were opened.
    private var opened = 0

    private struct Connection {
        var receiver: (any ConnectionReceiver)?
        /// Counts from 1 in order of opening.
        var number = 0
        /// How many events it had; wraps around.
        var events: UInt32 = 0
        var isDormant = false
    }

    /// A replay of the batches from a queue.
    ///
    /// - Parameter awakeLimit: of how many connections the receivers stay ready for the next event although nothing happens; it
    ///   changes no result.
    package init(_ queue: BatchQueue, to receiver: any StreamReceiver, awakeLimit: Int = AwakePlaces.usualLimit) {
        self.queue = queue
        self.receiver = receiver
        awake = AwakePlaces(limit: awakeLimit)
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
                visit(slot)?.received(
                    bytes.span.bytes.extracting(event.place..<event.place + event.count), from: event.direction,
                    at: event.time, packet: event.packet)
            case .learned:
                receiver.learned(
                    keyLog: bytes.span.bytes.extracting(event.place..<event.place + event.count))
            case .advanced: receiver.advance(to: event.time)
            case .opened: open(content.openings[event.place], at: slot)
            case .missing:
                visit(slot)?.missing(event.count, from: event.direction, at: event.time)
            case .noticed:
                visit(slot)?.noticed(
                    content.notices[event.place], from: event.direction, at: event.time, packet: event.packet)
            case .finished:
                visit(slot)?.finished(event.ending, from: event.direction, at: event.time)
            case .closed:
                visit(slot)?.closed(content.closings[event.place])
                connections[slot] = Connection()
            }
        }
    }

    private func open(_ opening: Opening, at slot: Int) {
        while connections.count <= slot { connections.append(Connection()) }
        opened += 1
        connections[slot] = Connection(receiver: receiver.open(opening), number: opened)
        watch(slot)
    }

    /// The receiver of a connection to which something happens.
    @inline(__always)
    private func visit(_ slot: Int) -> (any ConnectionReceiver)? {
        connections[slot].events &+= 1
        if connections[slot].isDormant {
            connections[slot].isDormant = false
            watch(slot)
        }
        return connections[slot].receiver
    }

    /// Keeps a connection's receiver ready, and looks at those that have been ready for longest.
    private func watch(_ slot: Int) {
        awake.add(entry(of: slot))
        let oldest = awake.takeOldest()
        if let first = oldest.0 { rest(first, unless: slot) }
        if let second = oldest.1 { rest(second, unless: slot) }
    }

    private func entry(of slot: Int) -> AwakePlaces.Entry {
        AwakePlaces.Entry(slot, number: connections[slot].number, events: connections[slot].events)
    }

    private func rest(_ entry: AwakePlaces.Entry, unless current: Int) {
        let slot = entry.place
        guard entry.isOf(connections[slot].number), !connections[slot].isDormant else { return }
        guard slot != current, connections[slot].events == entry.events,
            let dormant = connections[slot].receiver?.dormant()
        else { return awake.add(self.entry(of: slot)) }
        connections[slot].receiver = dormant
        connections[slot].isDormant = true
    }
}
