import Framing
import Platform
import Streams

/// The reference peers of `len16-id`: 16-bit length, 16-bit message id, Protobuf.
package enum MessageIDs: ReferencePeer {
    package static let format = "len16-id"
    /// The hazards that both its ends can reproduce.
    package static let hazards: Set<String> = ["negative-length", "double-append"]
    /// 31 s of heartbeats in 2.5 s.
    package static let demoScale = 0.08

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        let state = MessageServerState(try SimpleFormat.named(format), options: options)
        try await SimpleServer.run(state, at: address, options: options, bound: bound, log: log)
    }

    /// Ann and Ben log in and chat both ways: two messages merged in one write, one split over two; until both have had
    /// two heartbeats, 5 and 10 s after connecting. 10.3 s in all, however many rounds of chat.
    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        try await run(with: server, options, log) { ann, ben in
            for _ in 0..<options.rounds { try await chat(ann, ben) }
            try await ann.until("two heartbeats", after: 10) { $0.heartbeats >= 2 }
            try await ben.until("two heartbeats", after: 10) { $0.heartbeats >= 2 }
            try await ann.wait(0.3)
        }
    }

    /// The demonstration, 31 s before scaling.
    ///
    ///     0       both log in, and chat as in `converse`
    ///     5, 10   heartbeats from the server
    ///     11      Ann has the server leave out her next three: the one gap
    ///     30      heartbeats
    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        try await run(with: server, options, log) { ann, ben in
            try await ann.wait(1)
            try await chat(ann, ben)
            try await ann.until("two heartbeats", after: 10) { $0.heartbeats >= 2 }
            try await ann.wait(1)
            try await ann.say(["leave out 3 heartbeats"], to: "server")
            // Long enough for the server to have read it, and for any heartbeat that overtook it.
            try await ann.wait(6)
            let before = try await ann.value { $0.heartbeats }
            try await ann.until("a heartbeat after the gap", after: 20) { $0.heartbeats > before }
            try await ann.wait(1)
        }
    }

    private typealias Client = SimpleClient<MessageClientState>

    /// Connects Ann and Ben, logs them in, and runs a script.
    private static func run(
        with server: PeerAddress, _ options: PeerOptions, _ log: @escaping PeerLog,
        script: (_ ann: Client, _ ben: Client) async throws -> Void
    ) async throws {
        let format = try SimpleFormat.named(format)
        var options = options
        // Only the script decides what is in one segment.
        options.noDelay = true
        func client(_ name: String) -> Client {
            let state = MessageClientState(format, userID: name, session: "5eCr3t-of-\(name)", options: options)
            return Client(name, state, server: server, options: options, log: log)
        }
        let (ann, ben) = (client("ann"), client("ben"))
        try await Client.run(ann, ben) {
            for client in [ann, ben] {
                try await client.until("an answer to its login") { $0.outcome != nil }
                try await client.until("a login that succeeds") { $0.outcome == .userLoginSucceeded }
            }
            try await script(ann, ben)
        }
    }

    private static func chat(_ ann: Client, _ ben: Client) async throws {
        try await ann.say(["Hello", "Are you there?"], to: ben)
        try await ben.say(["你好，我在这里"], to: ann, cutAt: 12)
        // A receiver that is out of sync shows it here.
        try await ben.say(["And you?"], to: ann)
    }
}

extension SimpleClient<MessageClientState> {
    /// Sends chats to another client and waits until it has them.
    fileprivate func say(_ texts: [String], to target: Self, cutAt place: Int? = nil) async throws {
        let sender = try await value { $0.userID }
        let (userID, before) = try await target.value { ($0.userID, $0.chatCount) }
        try await say(texts, to: userID, cutAt: place)
        let expected = texts.map { MessageClientState.Chat(from: sender, text: $0) }
        try await target.until("\(texts.count) chats from \(sender)") {
            $0.chatCount >= before + expected.count && $0.chats.suffix(expected.count) == expected[...]
        }
    }

    /// Sends chats in one write, or in two, split at an offset.
    fileprivate func say(_ texts: [String], to target: String, cutAt place: Int? = nil) async throws {
        let sentAt = UInt64(SystemClock.nanoseconds() / 1_000_000)
        let bytes = try await value { $0.chats(texts, to: target, sentAt: sentAt) }
        guard let place else { return try await write(bytes) }
        let (first, rest) = bytes.cut(at: place)
        try await write(first, rest)
    }
}
