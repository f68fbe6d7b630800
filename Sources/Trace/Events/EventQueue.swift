import Synchronization

/// Events on their way to a subscriber. The queue is bounded: a slow subscriber loses events, and is notified of how many; the
/// decoder never waits.
///
/// Any thread may add and take events.
package final class EventQueue: Sendable {
    /// The events taken.
    package struct Batch: Hashable, Sendable {
        /// How many events were lost before the first of them.
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

    /// Adds an event. If the queue is full, the oldest events are dropped: the newest are worth the most to a viewer.
    package func put(_ event: TraceEvent) {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            if state.batch.events.count >= limit {
                // Drops a quarter at once, so that a full queue does not move all of its events for each new one.
                let lost = max(1, limit / 4)
                state.batch.events.removeFirst(lost)
                state.batch.lost += lost
            }
            state.batch.events.append(event)
            return state.wake.take()
        }
        wake?()
    }

    /// Ends the queue: no more events follow.
    package func finish() {
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            state.isFinished = true
            return state.wake.take()
        }
        wake?()
    }

    /// Takes the available events; nil if no more follow.
    package func take() -> Batch? {
        state.withLock { state in
            if state.batch.events.isEmpty, state.batch.lost == 0, state.isFinished { return nil }
            var batch = Batch()
            swap(&batch, &state.batch)
            return batch
        }
    }

    /// Waits for events, and takes them; nil if no more follow. One task at a time.
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
