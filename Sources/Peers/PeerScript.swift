import NIOCore
import Streams

/// The steps of a script for clients, and their time limits.
struct PeerScript: Sendable {
    let options: PeerOptions

    init(_ options: PeerOptions) {
        self.options = options
    }

    /// The maximum time for anything to arrive.
    var patience: Interval { options.limit(.seconds(4)) }

    /// Waits an interval of the script, scaled.
    func wait(_ seconds: Double) async throws {
        try await Task.sleep(for: .nanoseconds(options.scaled(.seconds(seconds)).nanoseconds))
    }

    /// Connects clients one after the other, runs the steps, and disconnects them, also when the task is cancelled.
    func run<State>(_ clients: [PeerClient<State>], steps: () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do {
            try await withTaskCancellationHandler {
                for client in clients { try await client.start(within: patience) }
                try await steps()
            } onCancel: {
                for client in clients { client.end() }
            }
            result = .success(())
        } catch {
            result = .failure(Task.isCancelled ? CancellationError() : error)
        }
        // A process that exits with bytes unread would reset its connections.
        for client in clients { try await client.end().get() }
        try result.get()
    }
}

extension Array where Element == UInt8 {
    /// The bytes in parts, split at these offsets.
    func cut(at places: [Int]) -> [[UInt8]] {
        var parts: [[UInt8]] = []
        var start = 0
        for place in places.filter({ $0 > 0 && $0 < count }) + [count] {
            parts.append(Array(self[start..<place]))
            start = place
        }
        return parts
    }
}
