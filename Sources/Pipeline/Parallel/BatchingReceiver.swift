import Streams

/// Writes stream events into batches, for decoders on other threads: connections are spread over as many lanes as there are
/// queues. What a lane gets, it gets in order.
///
/// A single lane is told of all time that passes, as the receiver is. Several need not be: their decoders count, and what is
/// counted hangs on the times of events alone.
package final class BatchingReceiver: StreamReceiver {
    private let lanes: [Lane]
    private let only: Lane?

    /// A receiver that passes everything on to these queues.
    package init(_ queues: [BatchQueue]) {
        lanes = queues.map { Lane($0) }
        only = lanes.count == 1 ? lanes[0] : nil
    }

    package func open(_ opening: Opening) -> any ConnectionReceiver {
        let lane = lanes[opening.number % lanes.count]
        return Connection(lane, lane.open(opening))
    }

    package func advance(to time: Timestamp) {
        if let only { return only.advance(to: time) }
        for index in lanes.indices { lanes[index].now = time }
    }

    /// Hands on what there is; nothing comes behind it.
    package func finish() {
        for lane in lanes { lane.finish() }
    }

    private final class Connection: ConnectionReceiver {
        private let lane: Lane
        private let slot: Int32

        init(_ lane: Lane, _ slot: Int32) {
            (self.lane, self.slot) = (lane, slot)
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            lane.receive(bytes, slot, from: direction, at: time, packet: packet)
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            lane.add(
                EventBatch.Event(kind: .missing, direction: direction, slot: slot, time: time, count: byteCount))
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            lane.notice(notice, slot, from: direction, at: time, packet: packet)
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            lane.add(
                EventBatch.Event(
                    kind: .finished, direction: direction, slot: slot, time: time, count: ending == .reset ? 1 : 0))
        }

        func closed(_ closing: Closing) {
            lane.close(closing, slot)
        }
    }
}

/// What one decoder will get.
///
/// The one thread that reads adds to it, and nothing that is called comes back; so that is not checked for each event.
private final class Lane {
    private let queue: BatchQueue
    private var batch: EventBatch
    @exclusivity(unchecked) private var events: [EventBatch.Event] = []
    @exclusivity(unchecked) private var bytes: [UInt8] = []
    private var freeSlots: [Int32] = []
    private var slots: Int32 = 0
    /// The time to which the receiver was told to advance, and the one to which the decoder will have been.
    @exclusivity(unchecked) var now = Timestamp(nanoseconds: .min)
    @exclusivity(unchecked) private var told = Timestamp(nanoseconds: .min)

    init(_ queue: BatchQueue) {
        self.queue = queue
        batch = queue.takeFree()
        swap(&events, &batch.events)
        swap(&bytes, &batch.bytes)
    }

    func open(_ opening: Opening) -> Int32 {
        var slot = slots
        if let free = freeSlots.popLast() { slot = free } else { slots += 1 }
        batch.openings.append(opening)
        add(EventBatch.Event(kind: .opened, slot: slot, place: batch.openings.count - 1))
        return slot
    }

    func close(_ closing: Closing, _ slot: Int32) {
        batch.closings.append(closing)
        add(EventBatch.Event(kind: .closed, slot: slot, place: batch.closings.count - 1))
        freeSlots.append(slot)
    }

    func notice(_ notice: StreamNotice, _ slot: Int32, from direction: Direction, at time: Timestamp, packet: Int) {
        batch.notices.append(notice)
        add(
            EventBatch.Event(
                kind: .noticed, direction: direction, slot: slot, time: time, packet: packet,
                place: batch.notices.count - 1))
    }

    func receive(_ span: RawSpan, _ slot: Int32, from direction: Direction, at time: Timestamp, packet: Int) {
        let place = bytes.count
        bytes.append(contentsOf: span)
        add(
            EventBatch.Event(
                kind: .received, direction: direction, slot: slot, time: time, packet: packet, place: place,
                count: span.byteCount))
    }

    /// Time passes. Where nothing has happened since it last did, that is an event of its own.
    func advance(to time: Timestamp) {
        if told != now { tell() }
        now = time
    }

    private func tell() {
        told = now
        events.append(EventBatch.Event(kind: .advanced, time: now))
    }

    func add(_ event: EventBatch.Event) {
        var event = event
        if told != now {
            if event.time == now {
                told = now
                event.advances = true
            } else {
                tell()
            }
        }
        events.append(event)
        if bytes.count >= EventBatch.size || events.count >= EventBatch.mostEvents { handOn() }
    }

    private func handOn() {
        swap(&events, &batch.events)
        swap(&bytes, &batch.bytes)
        queue.putFilled(batch)
        batch = queue.takeFree()
        swap(&events, &batch.events)
        swap(&bytes, &batch.bytes)
    }

    func finish() {
        if told != now { tell() }
        batch.isLast = true
        swap(&events, &batch.events)
        swap(&bytes, &batch.bytes)
        queue.putFilled(batch)
    }
}
