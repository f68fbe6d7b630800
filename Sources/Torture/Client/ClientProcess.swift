import Dispatch
import Platform

/// A client that a shell command starts.
struct ClientProcess: Sendable {
    /// The command; `{host}` and `{port}` stand for where to connect.
    let command: String

    /// How it ended.
    struct Exit: Hashable, Sendable {
        /// Negative: by this signal.
        var status: Int32
        var isTimedOut = false
        var took: Duration
        /// The end of what it wrote to its standard error output.
        var errors: String
    }

    /// Runs it, and kills it after a time.
    func run(host: String, port: Int, atMost time: Duration) async throws -> Exit {
        let command = command.replacing("{host}", with: host).replacing("{port}", with: "\(port)")
        // Not a pipe: what the client has started may keep that open.
        let errors = try TemporaryFile()
        let start = ContinuousClock.now
        let process = try ChildProcess(["/bin/sh", "-c", command], errors: errors.descriptor)
        let timer = Task {
            try await Task.sleep(for: time)
            process.kill()
        }
        let status = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue(label: "client").async { continuation.resume(returning: process.wait()) }
            }
        } onCancel: {
            process.kill()
        }
        timer.cancel()
        try Task.checkCancellation()
        let took = ContinuousClock.now - start
        return Exit(
            status: status, isTimedOut: took >= time, took: took,
            errors: String(decoding: errors.end(2_000), as: UTF8.self))
    }
}
