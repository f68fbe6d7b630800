import Foundation
import Synchronization

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
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        let command = command.replacing("{host}", with: host).replacing("{port}", with: "\(port)")
        process.arguments = ["-c", command]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let errors = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-\(UUID().uuidString)")
        FileManager.default.createFile(atPath: errors.path, contents: nil, attributes: [.posixPermissions: 0o600])
        defer { try? FileManager.default.removeItem(at: errors) }
        process.standardError = try FileHandle(forWritingTo: errors)
        let start = ContinuousClock.now
        let ended = AsyncStream<Void> { continuation in
            process.terminationHandler = { _ in continuation.finish() }
        }
        try process.run()
        let number = process.processIdentifier
        let timer = Task {
            try await Task.sleep(for: time)
            // The shell, and what it has started: Foundation gives each child a process group of its own.
            kill(-number, SIGKILL)
            kill(number, SIGKILL)
        }
        await withTaskCancellationHandler {
            for await _ in ended {}
        } onCancel: {
            kill(-number, SIGKILL)
            kill(number, SIGKILL)
        }
        process.waitUntilExit()
        timer.cancel()
        try Task.checkCancellation()
        let took = ContinuousClock.now - start
        let said = (try? Data(contentsOf: errors)) ?? Data()
        let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return Exit(
            status: status, isTimedOut: took >= time, took: took,
            errors: String(decoding: said.suffix(2_000), as: UTF8.self))
    }
}
