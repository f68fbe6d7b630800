import Dispatch
import Synchronization

/// Items on their way to the store. The queue is bounded. The decoder of live traffic never waits for it: what does not fit is
/// lost, and counted. One that reads files waits.
package final class PageQueue: Sendable {
    /// What becomes of an item that does not fit.
    package enum Pressure: Sendable { case loses, waits }

    private struct State {
        var items: [PageItem] = []
        var cost = 0
        var lost = 0
        /// Whether the store takes items, or is about to.
        var isTaken = false
        var isOver = false
        var waiting = false
        var wake: (@Sendable () -> Void)?
    }

    private let pressure: Pressure
    private let most: (items: Int, cost: Int)
    private let state = Mutex(State())
    private let room = DispatchSemaphore(value: 0)

    /// An empty queue.
    package init(_ pressure: Pressure, items: Int = 65_536, cost: Int = 64 << 20) {
        (self.pressure, most) = (pressure, (items, cost))
    }

    /// Sets what is called when there are items, and nothing takes them.
    func whenFilled(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// Adds an item. One thread adds them.
    package func put(_ item: PageItem) {
        let cost = item.cost
        while true {
            let (isDone, wake) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
                if state.isOver { return (true, nil) }
                // What others cannot be understood without is kept a while longer.
                let factor = item.isVital ? 2 : 1
                if state.items.count >= factor * most.items
                    || !state.items.isEmpty && state.cost + cost > factor * most.cost
                {
                    guard pressure == .waits else {
                        if case .event = item.content { state.lost += 1 }
                        return (true, nil)
                    }
                    state.waiting = true
                    return (false, nil)
                }
                state.items.append(item)
                state.cost += cost
                guard !state.isTaken else { return (true, nil) }
                state.isTaken = true
                return (true, state.wake)
            }
            wake?()
            if isDone { return }
            room.wait()
        }
    }

    /// Takes the items, and how many were lost; nil if there are none, and then `wake` is called for the next one.
    func take() -> (items: [PageItem], lost: Int)? {
        let (batch, isWaiting) = state.withLock { state -> ((items: [PageItem], lost: Int)?, Bool) in
            guard !state.items.isEmpty || state.lost > 0 else {
                state.isTaken = false
                return (nil, false)
            }
            defer { (state.items, state.cost, state.lost, state.waiting) = ([], 0, 0, false) }
            return ((state.items, state.lost), state.waiting)
        }
        if isWaiting { room.signal() }
        return batch
    }

    /// Closes the queue: items are discarded, and a waiting producer continues.
    package func end() {
        let isWaiting = state.withLock { state in
            defer { (state.isOver, state.items, state.waiting) = (true, [], false) }
            return state.waiting
        }
        if isWaiting { room.signal() }
    }
}
