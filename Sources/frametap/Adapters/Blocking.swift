import Dispatch
import Synchronization

/// Waits for asynchronous work on a thread that may block, such as the main thread of a command that is not asynchronous.
enum Blocking {
    /// The result of the work.
    static func wait<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
        let done = DispatchSemaphore(value: 0)
        let result = ResultBox<Value>()
        Task {
            let outcome: Result<Value, any Error>
            do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
            result.value.withLock { $0 = outcome }
            done.signal()
        }
        done.wait()
        guard let outcome = result.value.withLock({ $0 }) else { throw CancellationError() }
        return try outcome.get()
    }

    private final class ResultBox<Value: Sendable>: Sendable {
        let value = Mutex<Result<Value, any Error>?>(nil)
    }
}
