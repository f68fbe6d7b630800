import NIOHTTP1

/// Requests that change something, one after the other: each begins when the one before it is answered.
actor RequestQueue {
    private var last: Task<Void, Never>?

    /// Performs a request in its turn; one that only reads does not wait.
    func perform(
        _ request: HTTPRequest, _ work: @escaping @Sendable (HTTPRequest) async -> HTTPResponse?
    ) async -> HTTPResponse? {
        if request.method == .GET { return await work(request) }
        let before = last
        let task = Task {
            await before?.value
            return await work(request)
        }
        last = Task { _ = await task.value }
        return await task.value
    }
}
