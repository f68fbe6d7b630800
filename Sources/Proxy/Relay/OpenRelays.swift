import NIOCore
import Platform
import Synchronization

/// The channels that are open, so that whoever stops a proxy can wait for them to end by themselves, and so that their
/// ends can tell being stopped from being reset.
final class OpenRelays: Sendable {
    private struct State {
        var open: [ObjectIdentifier: any Channel] = [:]
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

    /// Begins to stop: whatever closes the channels that are open now resets them. A peer that saw a FIN would take half a
    /// transfer for a whole one.
    func stop() {
        let open = state.withLock { state in
            state.isStopping = true
            return Array(state.open.values)
        }
        for channel in open { channel.resetOnClose() }
    }

    /// Keeps a channel until it is closed.
    func add(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        state.withLock { $0.open[key] = channel }
        channel.closeFuture.whenComplete { _ in self.remove(key) }
    }

    private func remove(_ key: ObjectIdentifier) {
        let done = state.withLock { state in
            state.open[key] = nil
            return state.open.isEmpty ? state.takeWaiting() : []
        }
        for promise in done { promise.succeed() }
    }

    /// Whether nothing is open any more, as soon as that is so or `time` has passed.
    func isEmpty(within time: TimeAmount, on loop: any EventLoop) -> EventLoopFuture<Bool> {
        let promise = loop.makePromise(of: Void.self)
        let isEmpty = state.withLock { state in
            if !state.open.isEmpty { state.waiting.append(promise) }
            return state.open.isEmpty
        }
        if isEmpty { promise.succeed() }
        let patience = loop.scheduleTask(in: time) { self.giveUp() }
        return promise.futureResult.map {
            patience.cancel()
            return self.state.withLock { $0.open.isEmpty }
        }
    }

    private func giveUp() {
        for promise in state.withLock({ $0.takeWaiting() }) { promise.succeed() }
    }
}

extension Channel {
    /// Has closing send RST: with a lingering time of 0 it does not send FIN (POSIX, SO_LINGER). Succeeds where the channel
    /// has no socket, too.
    @discardableResult
    func resetOnClose() -> EventLoopFuture<Void> {
        guard let socket = self as? any SocketOptionProvider else { return eventLoop.makeSucceededVoidFuture() }
        return socket.unsafeSetSocketOption(level: .socket, name: .so_linger, value: linger(l_onoff: 1, l_linger: 0))
    }
}
