import Dispatch
import Synchronization

/// Hands batches from the reading thread to a decoding thread, and back once they are used up: their number is limited.
package final class BatchQueue: Sendable {
    private struct State {
        var filled: [EventBatch] = []
        var free: [EventBatch] = []
    }

    private let state = Mutex(State())
    private let fills = DispatchSemaphore(value: 0)
    private let frees: DispatchSemaphore

    /// A queue of a few batches.
    package init(batches: Int = 4) {
        frees = DispatchSemaphore(value: batches)
        state.withLock { state in
            for _ in 0..<batches { state.free.append(EventBatch()) }
        }
    }

    /// An empty batch; waits until one is available.
    func takeFree() -> EventBatch {
        frees.wait()
        return state.withLock { $0.free.popLast() } ?? EventBatch()
    }

    func putFilled(_ batch: EventBatch) {
        state.withLock { $0.filled.append(batch) }
        fills.signal()
    }

    /// The next batch in order; waits until one is available.
    func takeFilled() -> EventBatch {
        fills.wait()
        return state.withLock { $0.filled.isEmpty ? EventBatch() : $0.filled.removeFirst() }
    }

    func putFree(_ batch: EventBatch) {
        batch.empty()
        state.withLock { $0.free.append(batch) }
        frees.signal()
    }
}
