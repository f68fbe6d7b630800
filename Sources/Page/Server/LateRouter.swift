import Synchronization

/// A router that is made when it is known where the server listens. Requests that come before wait for it.
final class LateRouter: Sendable {
    private struct State {
        var router: PageRouter?
        var waiting: [CheckedContinuation<PageRouter, Never>] = []
    }

    private let state = Mutex(State())

    /// The router; nil before it is made.
    var now: PageRouter? { state.withLock { $0.router } }

    /// The router, once it is made.
    var value: PageRouter {
        get async {
            await withCheckedContinuation { continuation in
                let router = state.withLock { state -> PageRouter? in
                    if state.router == nil { state.waiting.append(continuation) }
                    return state.router
                }
                if let router { continuation.resume(returning: router) }
            }
        }
    }

    func set(_ router: PageRouter) {
        let waiting = state.withLock { state in
            state.router = router
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: router) }
    }
}
