import Streams

/// Writes stream events into batches, in order, for a decoder on another thread.
package final class BatchingReceiver: StreamReceiver {
    private let batches: BatchFilling

    /// A receiver that passes everything on to a queue.
    package init(_ queue: BatchQueue) {
        batches = BatchFilling(queue)
    }

    package func open(_ opening: Opening) -> any ConnectionReceiver {
        Connection(batches, batches.open(opening))
    }

    package func advance(to time: Timestamp) {
        batches.advance(to: time)
    }

    package func learned(keyLog: RawSpan) { batches.learned(keyLog: keyLog) }

    /// Hands on the remaining events; nothing follows.
    package func finish() {
        batches.finish()
    }

    fileprivate final class Connection: ConnectionReceiver {
        private let batches: BatchFilling
        private let slot: Int32

        init(_ batches: BatchFilling, _ slot: Int32) {
            (self.batches, self.slot) = (batches, slot)
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            batches.receive(bytes, slot, from: direction, at: time, packet: packet)
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            batches.add(.missing(byteCount, direction, slot, time))
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
            batches.notice(notice, slot, from: direction, at: time, packet: packet)
        }

        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
            batches.add(.finished(ending, direction, slot, time))
        }

        func closed(_ closing: Closing) {
            batches.close(closing, slot)
        }

        func pack(into numbers: inout PackedNumbers) -> (any ReceiverSource)? {
            var slot = Int(slot)
            numbers.pass(&slot)
            return batches
        }
    }
}

/// The events for one decoder.
///
/// Only the reading thread adds to it, and nothing that it calls calls back; so exclusivity is not checked for each event.
private final class BatchFilling: ReceiverSource {
    private let queue: BatchQueue
    private var batch: EventBatch
    @exclusivity(unchecked) private var content = StreamEventBuffer()
    /// How many bytes its notices have, which are not in `content.bytes`.
    @exclusivity(unchecked) private var copiedBytes = 0
    private var freeSlots: [Int32] = []
    private var slots: Int32 = 0
    /// The time to which the receiver was advanced, and the time to which the decoder will have been.
    @exclusivity(unchecked) private var now = Timestamp(nanoseconds: .min)
    @exclusivity(unchecked) private var reported = Timestamp(nanoseconds: .min)

    init(_ queue: BatchQueue) {
        self.queue = queue
        batch = queue.takeFree()
        swap(&content, &batch.content)
    }

    func open(_ opening: Opening) -> Int32 {
        var slot = slots
        if let free = freeSlots.popLast() { slot = free } else { slots += 1 }
        add(content.open(opening, slot))
        return slot
    }

    var isShared: Bool { true }

    func receiver(from numbers: inout PackedNumbers) -> any ConnectionReceiver {
        var slot = 0
        numbers.pass(&slot)
        return BatchingReceiver.Connection(self, Int32(slot))
    }

    func close(_ closing: Closing, _ slot: Int32) {
        add(content.close(closing, slot))
        freeSlots.append(slot)
    }

    func notice(_ notice: StreamNotice, _ slot: Int32, from direction: Direction, at time: Timestamp, packet: Int) {
        let copied = Self.streamBytes(of: notice)
        copiedBytes += copied
        add(content.notice(notice, direction, slot, time, packet: packet))
        // Not in `add`, which is called for every event.
        if copied > 0, content.bytes.count + copiedBytes >= EventBatch.size { handOn() }
    }

    /// How many of a stream's bytes a notice has.
    private static func streamBytes(of notice: StreamNotice) -> Int {
        switch notice {
        case .late(_, let bytes): bytes.count
        case .conflict(_, let kept, let other): kept.count + other.count
        default: 0
        }
    }

    func receive(_ span: RawSpan, _ slot: Int32, from direction: Direction, at time: Timestamp, packet: Int) {
        add(content.receive(span, direction, slot, time, packet: packet))
    }

    func learned(keyLog: RawSpan) {
        var event = content.receive(keyLog, .fromClient, 0, now, packet: 0)
        event.kind = .learned
        add(event)
    }

    /// Time passes. If nothing has happened since it last did, that is an event of its own.
    func advance(to time: Timestamp) {
        if reported != now { report() }
        now = time
    }

    private func report() {
        reported = now
        content.events.append(StreamEventBuffer.Event(kind: .advanced, time: now))
    }

    func add(_ event: StreamEventBuffer.Event) {
        var event = event
        if reported != now {
            if event.time == now {
                reported = now
                event.advances = true
            } else {
                report()
            }
        }
        content.events.append(event)
        if content.bytes.count >= EventBatch.size || content.events.count >= EventBatch.mostEvents { handOn() }
    }

    private func handOn() {
        copiedBytes = 0
        swap(&content, &batch.content)
        queue.putFilled(batch)
        batch = queue.takeFree()
        swap(&content, &batch.content)
    }

    func finish() {
        if reported != now { report() }
        batch.isLast = true
        swap(&content, &batch.content)
        queue.putFilled(batch)
    }
}
