import NIOCore
import Pipeline
import Streams
import Trace

/// Takes relayed data out of the queue, decodes it, and records it.
///
/// It runs on the thread that calls `run`, and is the only user of the decoder and the sinks. It pauses briefly between batches,
/// so that a busy relay does not have to wake it for each read. Nothing that it calls comes back to it, so exclusivity is not
/// checked for what each event needs.
package final class Recorder {
    private let queue: RecordingQueue
    private let decoder: Decoder
    private let packets: PacketRecorder?
    private let connections = OpenLegs()
    /// The maximum wait if nothing happens; nil: until something is due.
    private let patience: Interval?
    private var lastFlush = ContinuousClock.now
    /// What was taken last, and how many of its bytes are recorded.
    @exclusivity(unchecked) private var batch = RecordingQueue.Batch()
    @exclusivity(unchecked) private var taken = 0
    private var pace = RecorderPace()
    @exclusivity(unchecked) private var isLate: () -> Bool = { false }
    /// The data that there was no time left to decode.
    package private(set) var late = RecordingQueue.Loss()

    /// A recorder.
    ///
    /// - Parameters:
    ///   - decoder: decodes; the frames of `packets`, if any, are among its sinks.
    ///   - packets: writes the capture.
    ///   - patience: the longest time that `run` continues without a pause if nothing happens.
    package init(queue: RecordingQueue, decoder: Decoder, packets: PacketRecorder?, patience: Interval? = nil) {
        self.queue = queue
        self.patience = patience
        self.decoder = decoder
        self.packets = packets
    }

    /// Records until the queue is finished, then ends the trace.
    ///
    /// - Parameters:
    ///   - isLate: whether there is no more time to decode: the rest is counted as dropped.
    ///   - pause: called between batches, with how long to pause.
    package func run(isLate: @escaping () -> Bool = { false }, pause: (Interval) -> Void) {
        self.isLate = isLate
        while recordBatch() { pause(pace.pause) }
    }

    /// Records the queued events; waits if there are none. Returns whether there may be more.
    func recordBatch() -> Bool {
        let latest = patience.map { WallClock.now() + $0 }
        queue.take(until: [decoder.nextDeadline, latest].compactMap { $0 }.min(), into: &batch)
        taken = 0
        pace.take(batch.cost, at: batch.time)
        for (index, event) in batch.events.enumerated() {
            record(event)
            // A batch may take long: the files left by a crash must not end more than a second before it.
            if index & 63 == 63, ContinuousClock.now - lastFlush > .milliseconds(500) { flush() }
        }
        decoder.advance(to: batch.time)
        packets?.advance(to: batch.time)
        if batch.isLast { finish(at: batch.time) } else { flush() }
        for report in batch.awaited { report() }
        return !batch.isLast
    }

    private func flush() {
        decoder.flush()
        packets?.flush()
        lastFlush = .now
    }

    private func record(_ event: RecordingQueue.Event) {
        switch event {
        case .opened(let opening):
            decoder.advance(to: opening.time)
            connections.add(OpenLeg(opening.connectionLeg, receiver: decoder.open(opening)))
            packets?.opened(opening)
        case .refused(let opening, let reason, let side, let detail):
            decoder.advance(to: opening.time)
            let receiver = decoder.open(opening)
            packets?.refused(opening, reason, by: side, detail: detail)
            // The reason alone says that there were too many clients, or that a command ended it.
            let cause = reason == .refusedByLimit || reason == .rule ? nil : detail
            receiver.closed(Closing(reason: reason, by: side, time: opening.time, detail: cause))
        case .received(let connection, let direction, let buffer, let time):
            buffer.withUnsafeReadableBytes { received($0.bytes, connection, direction, time) }
        case .copied(let connection, let direction, let count, let time):
            let place = taken..<taken + count
            taken += count
            let bytes = batch.bytes
            received(bytes.span.bytes.extracting(place), connection, direction, time)
        case .dropped(let connection, let direction, let loss, let time):
            decoder.advance(to: time)
            dropped(loss, connection, direction, time)
        case .held(let connection, let direction, let isHeld, let time):
            decoder.advance(to: time)
            held(isHeld, connection, direction, time)
        case .noticed(let connection, let direction, let notice, let time):
            decoder.advance(to: time)
            var notice = notice
            if case .action(var report) = notice {
                report.time = time
                notice = .action(report)
                packets?.acted(report, on: connection)
            }
            connections[connection]?.receiver.noticed(
                notice, from: direction, at: time, packet: packets?.nextPacket ?? 0)
            if case .tls(let facts) = notice { packets?.learned(facts, on: connection, at: time) }
        case .finished(let connection, let direction, let ending, let time):
            decoder.advance(to: time)
            finished(ending, connection, direction, time)
        case .ended(let connection, let reason, let side, let time):
            decoder.advance(to: time)
            packets?.ended(connection, reason, by: side, at: time)
            close(connection, Closing(reason: reason, by: side, time: time))
        case .learned(let lines, let connection): packets?.learned(lines, of: connection)
        case .unrecorded(let connections, let loss):
            decoder.unrecorded(connections, byteCount: loss.bytes)
            packets?.unrecorded(connections, loss)
        }
    }

    private func received(_ bytes: RawSpan, _ connection: ConnectionLeg, _ direction: Direction, _ time: Timestamp) {
        decoder.advance(to: time)
        guard !isLate() else {
            let loss = RecordingQueue.Loss(read: bytes.byteCount)
            late = late + loss
            return dropped(loss, connection, direction, time)
        }
        guard let open = connections[connection] else { return }
        passGap(open, direction, time)
        open.offsets[direction] += bytes.byteCount
        open.receiver.received(bytes, from: direction, at: time, packet: packets?.nextPacket ?? 0)
        packets?.received(bytes, on: connection, from: direction, at: time)
    }

    private func dropped(
        _ loss: RecordingQueue.Loss, _ connection: ConnectionLeg, _ direction: Direction, _ time: Timestamp
    ) {
        guard let open = connections[connection] else { return }
        let notice = StreamNotice.unrecorded(offset: open.offsets[direction], byteCount: loss.bytes)
        open.receiver.noticed(notice, from: direction, at: time, packet: 0)
        packets?.dropped(loss, on: connection, from: direction, at: time)
        open.offsets[direction] += loss.bytes
        open.unrecorded[direction] += loss.bytes
    }

    /// Reports unrecorded bytes as missing once something shows what follows them.
    ///
    /// - Parameter least: a reader of the capture would not notice fewer bytes than this.
    private func passGap(_ open: OpenLeg, _ direction: Direction, _ time: Timestamp, least: Int = 1) {
        let count = open.unrecorded[direction]
        guard count >= least else { return }
        open.unrecorded[direction] = 0
        open.receiver.missing(count, from: direction, at: time)
    }

    /// A reader of the capture sees a closed window.
    private func held(_ isHeld: Bool, _ connection: ConnectionLeg, _ direction: Direction, _ time: Timestamp) {
        guard let open = connections[connection] else { return }
        open.receiver.noticed(.held(isHeld), from: direction, at: time, packet: packets?.nextPacket ?? 0)
        packets?.held(isHeld, on: connection, from: direction, at: time)
    }

    private func finished(_ ending: Ending, _ connection: ConnectionLeg, _ direction: Direction, _ time: Timestamp) {
        guard let open = connections[connection] else { return }
        if ending == .fin { passGap(open, direction, time) } else { passLastGaps(open, time) }
        open.receiver.finished(ending, from: direction, at: time)
        packets?.finished(ending, on: connection, from: direction, at: time)
        let isFirst = open.firstToFinish == nil
        let first = open.firstToFinish ?? direction
        open.firstToFinish = first
        switch ending {
        case .fin where isFirst: return
        case .fin: close(connection, Closing(reason: .fin, by: first, time: time))
        case .reset: close(connection, Closing(reason: .reset, by: direction, time: time))
        }
    }

    /// The connection ends without a FIN. In the capture an acknowledgment shows that there were bytes. An acknowledgment that is
    /// only one ahead may be that of a FIN that was not captured, so a single byte is not reported as missing.
    private func passLastGaps(_ open: OpenLeg, _ time: Timestamp) {
        for direction in Direction.allCases { passGap(open, direction, time, least: 2) }
    }

    private func close(_ connection: ConnectionLeg, _ closing: Closing) {
        guard let open = connections.remove(connection) else { return }
        passLastGaps(open, closing.time)
        open.receiver.closed(closing)
        packets?.closed(connection)
    }

    /// Ends the connections that are still open, in the order in which they opened, and the trace.
    private func finish(at time: Timestamp) {
        for connection in connections.legsInOrder {
            close(connection, Closing(reason: .endOfInput, by: nil, time: time))
        }
        packets?.finish(at: time)
        decoder.finish()
        decoder.flush()
        packets?.flush()
    }
}
