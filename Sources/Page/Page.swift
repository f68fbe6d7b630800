import NIOPosix
import Synchronization

/// What the page shows: a store that is filled from a queue, and searches in it.
package final class Page: Sendable {
    /// The events.
    package let store: EventStore
    let searches: Searches
    let orders = ConnectionOrders()
    /// Where events come from.
    package let queue: PageQueue
    /// Whether traffic is watched as it passes, and not read from files.
    let isLive: Bool
    /// What tells this page from one of another run at the same address.
    let run = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    private let writing = NIOThreadPool(numberOfThreads: 1)
    private let reading = NIOThreadPool(numberOfThreads: 2)

    /// An empty page.
    ///
    /// - Parameters:
    ///   - isLive: whether traffic is watched as it passes: then events are lost, and not waited for, if there are too many.
    ///   - queued: how many events may wait, and how many bytes they may take.
    package init(isLive: Bool, queued: (items: Int, cost: Int) = (65_536, 64 << 20)) throws {
        self.isLive = isLive
        store = try EventStore()
        searches = Searches(store)
        queue = PageQueue(isLive ? .loses : .waits, items: queued.items, cost: queued.cost)
        writing.start()
        reading.start()
        queue.whenFilled { [weak self] in self?.fill() }
    }

    /// Takes what is in the queue, on the thread that writes.
    private func fill() {
        writing.submit { [weak self] state in
            guard case .active = state else { return }
            while let self, let batch = queue.take() { store.take(batch.items, lost: batch.lost) }
        }
    }

    /// Answers a query, on a thread that may read files.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await reading.runIfActive(work)
    }

    /// Begins some work, on a thread that may read files.
    func begin(_ work: @escaping @Sendable () -> Void) {
        reading.submit { state in
            if case .active = state { work() }
        }
    }

    /// Takes no more events.
    package func end() {
        queue.end()
        writing.shutdownGracefully { _ in }
        reading.shutdownGracefully { _ in }
    }
}
