import Synchronization

/// Events on their way to a subscriber. The queue is bounded: a slow subscriber loses events and is notified how many; the decoder never waits.
///
/// Any thread may put events in and take them out.
package final class EventQueue: Sendable {
    /// What was taken out.
    package struct Batch: Hashable, Sendable {
        /// How many events were lost before the first of these.
        package var lost = 0
        /// The events, in order.
        package var events: [TraceEvent] = []
    }

    private struct State {
        var batch = Batch()
        var isFinished = false
        var wake: (@Sendable () -> Void)?
    }

    private let limit: Int
    private let state = Mutex(State())

    /// An empty queue.
    ///
    /// - Parameter limit: how many events it holds; more are lost.
    package init(limit: Int = 65_536) {
        self.limit = limit
    }

    /// Adds an event. Where the queue is full, the oldest events are lost: what is newest is worth the most to whoever watches.
    package func put(_ event: TraceEvent) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            if state.batch.events.count >= limit {
                // A quarter at once, so that a full queue does not move all of its events for each new one.
                let lost = max(1, limit / 4)
                state.batch.events.removeFirst(lost)
                state.batch.lost += lost
            }
            state.batch.events.append(event)
            return state.wake.take()
        }
        wake?()
    }

    /// No more events come.
    package func finish() {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            state.isFinished = true
            return state.wake.take()
        }
        wake?()
    }

    /// Takes out what is there; nil where nothing comes any more.
    package func take() -> Batch? {
        state.withLock { state in
            if state.batch.events.isEmpty, state.batch.lost == 0, state.isFinished { return nil }
            var batch = Batch()
            swap(&batch, &state.batch)
            return batch
        }
    }

    /// Waits for events, and takes them out; nil where nothing comes any more. One task at a time.
    package func next() async -> Batch? {
        while true {
            guard let batch = take() else { return nil }
            if batch.lost > 0 || !batch.events.isEmpty { return batch }
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let isReady = state.withLock { state in
                    guard state.batch.events.isEmpty, !state.isFinished else { return true }
                    state.wake = { continuation.resume() }
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }
}
