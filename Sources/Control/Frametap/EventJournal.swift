import Streams
import Synchronization
import Trace

/// The last events of a trace while it is recorded, each with a number: what the API's readers ask for.
///
/// It is bounded: the oldest events are evicted, and a reader that asks for them gets the number of those it missed.
package final class EventJournal: Sendable {
    private struct Entry {
        let event: TraceEvent
        /// About how many bytes of memory it takes.
        let cost: Int

        init(_ event: TraceEvent) {
            self.event = event
            cost = MemoryLayout<Entry?>.stride + event.contentCost
        }
    }

    private struct State {
        /// Those that are evicted are nil, until many are: then they are removed together.
        var events: [Entry?] = []
        /// The events that are not published yet.
        var pending: [Entry] = []
        /// The number of the first of them, how many of the array's first entries are evicted, and what the others take.
        var first = 0
        var dropped = 0
        var cost = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextWaiting = 0
        var isOver = false

        /// Evicts the oldest event.
        mutating func evict() {
            cost -= events[dropped]?.cost ?? 0
            events[dropped] = nil
            dropped += 1
            if dropped > events.count / 4 {
                events.removeFirst(dropped)
                first += dropped
                dropped = 0
            }
        }
    }

    private let most: Int
    private let limit: Int
    private let state = Mutex(State())

    /// An empty journal.
    ///
    /// - Parameters:
    ///   - most: at most how many events are kept.
    ///   - limit: at most how many bytes of memory they take; the last one stays in any case.
    package init(most: Int = 100_000, limit: Int = 64 << 20) { (self.most, self.limit) = (most, limit) }

    /// Events from a number on.
    struct Page {
        /// Each with its number.
        var events: [(number: Int, event: TraceEvent)]
        /// Where the next page begins.
        var next: Int
        /// How many events were evicted before they were asked for.
        var missed: Int
        /// The number that the next event will have.
        var latest: Int
    }

    /// Takes the next event. Readers see it when it is published.
    package func take(_ event: TraceEvent) {
        let entry = Entry(event)
        state.withLock { $0.pending.append(entry) }
    }

    /// Everything that happened so far has been recorded: readers see it, together with its packets.
    package func publish() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard !state.pending.isEmpty else { return [] }
            for entry in state.pending {
                state.events.append(entry)
                state.cost += entry.cost
                while state.events.count - state.dropped > most
                    || state.cost > limit && state.events.count - state.dropped > 1
                {
                    state.evict()
                }
            }
            state.pending.removeAll(keepingCapacity: state.pending.count < 1_024)
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for reader in waiting { reader.resume() }
    }

    /// No more events follow.
    package func finish() {
        publish()
        let waiting = state.withLock { state in
            state.isOver = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for reader in waiting { reader.resume() }
    }

    /// Readers check again what they wait for.
    func wake() {
        let waiting = state.withLock { state in
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for reader in waiting { reader.resume() }
    }

    /// Whether no more events follow.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Events from a number on for which something holds.
    func page(from number: Int, atMost count: Int, _ isWanted: (TraceEvent) -> Bool) -> Page {
        state.withLock { state in
            let oldest = state.first + state.dropped
            var page = Page(
                events: [], next: max(number, oldest), missed: max(0, oldest - number),
                latest: state.first + state.events.count)
            while page.next < state.first + state.events.count, page.events.count < count {
                if let event = state.events[page.next - state.first]?.event, isWanted(event) {
                    page.events.append((page.next, event))
                }
                page.next += 1
            }
            return page
        }
    }

    /// Returns when there is an event with this number, or a later one; or none will follow; or the task is cancelled; or `wake` is
    /// called.
    ///
    /// - Parameter isDone: whether there is nothing to wait for. What changes it calls `wake` afterwards.
    func wait(for number: Int, unless isDone: @escaping @Sendable () -> Bool = { false }) async {
        let key = state.withLock { state in
            state.nextWaiting += 1
            return state.nextWaiting
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.first + state.events.count > number || state.isOver || Task.isCancelled || isDone() {
                        return true
                    }
                    state.waiting[key] = continuation
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let reader = state.withLock { $0.waiting.removeValue(forKey: key) }
            reader?.resume()
        }
    }
}
