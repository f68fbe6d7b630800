import Framing
import NIOCore
import Streams

/// The two clients of the conversations, A and B.
struct ChatPair: Sendable {
    let a: ChatClient
    let b: ChatClient
    let options: PeerOptions

    /// A target that never connects.
    static let absent = "CinentC"

    /// Connects both, runs the script, and disconnects both, also when the task is cancelled.
    static func run(
        _ format: Format, with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog,
        script: (ChatPair) async throws -> Void
    ) async throws {
        func client(_ name: String) -> ChatClient {
            ChatClient(name, of: format, server: server, options: options, log: log)
        }
        let pair = ChatPair(a: client("CinentA"), b: client("CinentB"), options: options)
        let result: Result<Void, any Error>
        do {
            try await withTaskCancellationHandler {
                try await pair.a.start(within: pair.patience)
                try await pair.b.start(within: pair.patience)
                try await script(pair)
            } onCancel: {
                pair.a.end()
                pair.b.end()
            }
            result = .success(())
        } catch {
            result = .failure(Task.isCancelled ? CancellationError() : error)
        }
        // A process that exits with bytes unread would reset its connections.
        try await pair.a.end().get()
        try await pair.b.end().get()
        try result.get()
    }

    /// The maximum time for anything to arrive.
    var patience: Interval { options.limit(.seconds(4)) }

    /// Waits, in seconds before scaling, until the server knows both clients.
    func settle(_ seconds: Double) async throws {
        try await Task.sleep(for: .nanoseconds(max(options.scaled(.seconds(seconds)), options.leastPause).nanoseconds))
    }

    /// Waits an interval of the script, scaled.
    func wait(_ seconds: Double) async throws {
        try await Task.sleep(for: .nanoseconds(options.scaled(.seconds(seconds)).nanoseconds))
    }

    /// The five texts of the demo conversation.
    func texts(from sender: ChatClient, to target: ChatClient) -> [ChatMessage] {
        ["Hello", "I", "am", "A,", "nice to meet you!"].map {
            ChatMessage(text: $0, from: sender.name, to: target.name)
        }
    }

    /// A picture of this many bytes.
    func picture(_ byteCount: Int, from sender: ChatClient, to target: ChatClient) -> ChatMessage {
        ChatMessage(
            type: "img", sender: sender.name, target: target.name, body: Picture.jpeg(byteCount: byteCount))
    }
}
