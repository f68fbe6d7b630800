import NIOCore
import Synchronization

/// The channels that are open, so that whoever stops a proxy can wait for them to end by themselves, and so that their
/// ends can tell being stopped from being reset.
final class OpenRelays: Sendable {
    private struct State {
        var count = 0
        var isStopping = false
        var waiting: [EventLoopPromise<Void>] = []

        mutating func takeWaiting() -> [EventLoopPromise<Void>] {
            defer { waiting = [] }
            return waiting
        }
    }

    private let state = Mutex(State())

    /// Whether the proxy itself is closing what is open: what ends from now on is no peer's doing.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Begins to stop.
    func stop() {
        state.withLock { $0.isStopping = true }
    }

    /// Counts a channel until it is closed.
    func add(_ channel: any Channel) {
        state.withLock { $0.count += 1 }
        channel.closeFuture.whenComplete { _ in self.remove() }
    }

    private func remove() {
        let done = state.withLock { state in
            state.count -= 1
            return state.count > 0 ? [] : state.takeWaiting()
        }
        for promise in done { promise.succeed() }
    }

    /// Whether nothing is open any more, as soon as that is so or `time` has passed.
    func isEmpty(within time: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<Bool> {
        let promise = loop.makePromise(of: Void.self)
        let isEmpty = state.withLock { state in
            if state.count > 0 { state.waiting.append(promise) }
            return state.count == 0
        }
        if isEmpty { promise.succeed() }
        let patience = loop.scheduleTask(in: time) { self.giveUp() }
        return promise.futureResult.map {
            patience.cancel()
            return self.state.withLock { $0.count == 0 }
        }
    }

    private func giveUp() {
        for promise in state.withLock({ $0.takeWaiting() }) { promise.succeed() }
    }
}
