import Dispatch

/// A proxy in this process, and the recording of what passes through it.
package enum RecordedProxy {
    /// Runs a proxy while something talks through it.
    ///
    /// When `body` returns, connections that are still open have one second to end; then the proxy closes them.
    ///
    /// - Parameters:
    ///   - record: records what is in the queue until it is finished, on a thread of its own, and returns what it has.
    ///   - body: gets the address on which the proxy listens.
    /// - Returns: what `record` returns.
    /// - Throws: what `body` throws, or that the proxy cannot listen.
    package static func run<Record: Sendable>(
        _ options: ProxyOptions, _ record: @escaping @Sendable (RecordingQueue) -> Record,
        _ body: (HostPort) async throws -> Void
    ) async throws -> Record {
        let queue = RecordingQueue()
        // The recorder blocks while it waits for data: it gets a thread of its own, not one of a task's.
        let recorded = Task {
            await withCheckedContinuation { (continuation: CheckedContinuation<Record, Never>) in
                DispatchQueue(label: "recorder").async { continuation.resume(returning: record(queue)) }
            }
        }
        let proxy = ProxyServer(options, queue: queue)
        let outcome: Result<Void, any Error>
        do {
            guard case .tcp(let place)? = try await proxy.startListening().first else {
                throw ProxyServer.ListenFailure(description: "the proxy does not listen")
            }
            try await body(place)
            _ = try await proxy.drained(within: 1)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try? await proxy.close()
        queue.finish()
        let record = await recorded.value
        try outcome.get()
        return record
    }
}
