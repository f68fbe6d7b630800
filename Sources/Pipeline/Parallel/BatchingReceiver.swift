import Streams

/// Writes stream events into batches, for decoders on other threads: connections are spread over as many lanes as there are
/// queues. What a lane gets, it gets in order.
package final class BatchingReceiver: StreamReceiver {
    private let lanes: [Lane]

    /// A receiver that passes everything on to these queues.
    package init(_ queues: [BatchQueue]) {
        lanes = queues.map { Lane($0) }
    }

    package func open(_ opening: Opening) -> any ConnectionReceiver {
        let lane = lanes[opening.number % lanes.count]
        let slot = lane.takeSlot()
        lane.batch.openings.append(opening)
        lane.add(EventBatch.Event(kind: .opened, slot: slot, place: lane.batch.openings.count - 1))
        return Connection(lane, slot)
    }

    package func advance(to time: Timestamp) {
        for lane in lanes { lane.add(EventBatch.Event(kind: .advanced, time: time)) }
    }

    /// Hands on what there is; nothing comes behind it.
    package func finish() {
        for lane in lanes { lane.finish() }
    }

    private final class Lane {
        // The one thread that reads adds to it, and nothing that is called comes back.
        @exclusivity(unchecked) var batch: EventBatch
        private let queue: BatchQueue
        private var freeSlots: [Int32] = []
        private var slots: Int32 = 0

        init(_ queue: BatchQueue) {
            self.queue = queue
            batch = queue.takeFree()
        }

        func takeSlot() -> Int32 {
            if let slot = freeSlots.popLast() { return slot }
            slots += 1
            return slots - 1
        }

        func giveBack(_ slot: Int32) { freeSlots.append(slot) }

        func add(_ event: EventBatch.Event) {
            batch.events.append(event)
            if batch.isFull { handOn() }
        }

        private func handOn() {
            queue.putFilled(batch)
            batch = queue.takeFree()
        }

        func finish() {
            batch.isLast = true
            queue.putFilled(batch)
        }
    }

    private final class Connection: ConnectionReceiver {
        private let lane: Lane
        private let slot: Int32

        init(_ lane: Lane, _ slot: Int32) {
            (self.lane, self.slot) = (lane, slot)
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            let place = lane.batch.bytes.count
            lane.batch.bytes.append(contentsOf: bytes)
            lane.add(
                EventBatch.Event(
                    kind: .received, direction: direction, slot: slot, time: time, packet: packet, place: place,
                    count: bytes.byteCount))
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            lane.add(
                EventBatch.Event(kind: .missing, direction: direction, slot: slot, time: time, count: byteCount))
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            lane.batch.notices.append(notice)
            lane.add(
                EventBatch.Event(
                    kind: .noticed, direction: direction, slot: slot, time: time, packet: packet,
                    place: lane.batch.notices.count - 1))
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            lane.add(
                EventBatch.Event(
                    kind: .finished, direction: direction, slot: slot, time: time, count: ending == .reset ? 1 : 0))
        }

        func closed(_ closing: Closing) {
            lane.batch.closings.append(closing)
            lane.add(EventBatch.Event(kind: .closed, slot: slot, place: lane.batch.closings.count - 1))
            lane.giveBack(slot)
        }
    }
}
