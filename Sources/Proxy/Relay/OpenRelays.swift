import NIOCore
import Platform
import Synchronization

/// The open channels, so that stopping a proxy can wait for them to end by themselves, and so that their ends can distinguish
/// being stopped from being reset.
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

    /// Whether the proxy itself is closing the open channels: any end from now on is not caused by a peer.
    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Begins to stop: from now on, closing any of the open channels resets it. A peer that saw a FIN would mistake half a
    /// transfer for a complete one.
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
        let isStopping = state.withLock { state in
            state.open[key] = channel
            return state.isStopping
        }
        if isStopping { channel.resetOnClose() }
        channel.closeFuture.whenComplete { _ in self.remove(key) }
    }

    private func remove(_ key: ObjectIdentifier) {
        let done = state.withLock { state in
            state.open[key] = nil
            return state.open.isEmpty ? state.takeWaiting() : []
        }
        for promise in done { promise.succeed() }
    }

    /// Completes when all channels are closed or `time` has passed; whether all are closed.
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
    /// Makes closing send RST: with a linger time of 0 it does not send FIN (POSIX, SO_LINGER). Also succeeds if the channel has
    /// no socket.
    @discardableResult
    func resetOnClose() -> EventLoopFuture<Void> {
        guard let socket = self as? any SocketOptionProvider else { return eventLoop.makeSucceededVoidFuture() }
        return socket.unsafeSetSocketOption(level: .socket, name: .so_linger, value: linger(l_onoff: 1, l_linger: 0))
    }
}
