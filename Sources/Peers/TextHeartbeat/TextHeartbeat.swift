import Framing
import Streams

/// The reference peers of `text-heartbeat`: undelimited text.
package enum TextHeartbeat: ReferencePeer {
    package static let format = "text-heartbeat"
    /// The hazards that its server can reproduce.
    package static let hazards: Set<String> = ["keyed-by-text", "cut-character"]
    /// 31 s of heartbeats in 2.5 s.
    package static let demoScale = 0.08

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        let state = TextServerState(try SimpleFormat.named(format), options: options)
        try await SimpleServer.run(state, at: address, options: options, bound: bound, log: log)
    }

    /// Two heartbeats, 5 and 10 s after connecting, and text both ways between them: one cut inside a character, one
    /// merged with a heartbeat. 10.3 s in all for each round.
    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options, log) { client in
            for round in 0..<options.rounds {
                try await client.until("a heartbeat", after: 5) { $0.heartbeats > 2 * round }
                try await client.wait(0.5)
                let number = round == 0 ? "" : " \(round + 1)"
                try await client.say("Hello" + number)
                try await client.say("你好，服务器" + number)
                try await client.say("再" + number, "见")
                try await client.perform { state in
                    state.textWithHeartbeat = Array("bye\(number)".utf8)
                    return []
                }
                try await client.until("a second heartbeat", after: 5) { $0.heartbeats > 2 * round + 1 }
                try await client.until("the answer to bye") { $0.hasHeard("收到 bye\(number)") }
            }
            try await client.wait(0.3)
        }
    }

    /// The demonstration, 31 s before scaling; what one read carries is one message, so only a character can be split.
    ///
    ///     5   heartbeat
    ///     6   text, answered
    ///     7   text, cut inside a character; answered when it is whole
    ///     10  heartbeat
    ///     12  two heartbeats in one write; the next three are left out: the one gap
    ///     30  heartbeat
    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options, log) { client in
            try await client.until("a heartbeat", after: 5) { $0.heartbeats >= 1 }
            try await client.wait(1)
            try await client.say("Hello")
            try await client.wait(1)
            try await client.say("你", "好", pause: 1)
            try await client.until("a second heartbeat", after: 5) { $0.heartbeats >= 2 }
            try await client.wait(2)
            try await client.perform { state in
                state.heartbeatsToSkip = 3
                return state.connection.map { [.write(state.heartbeat + state.heartbeat, connection: $0)] } ?? []
            }
            let before = try await client.value { $0.heartbeats }
            try await client.until("a heartbeat after the gap", after: 20) { $0.heartbeats > before }
            try await client.wait(1)
        }
    }

    private typealias Client = SimpleClient<TextClientState>

    private static func run(
        with server: PeerAddress, _ options: PeerOptions, _ log: @escaping PeerLog,
        script: (Client) async throws -> Void
    ) async throws {
        try options.check(hazards: hazards)
        var options = options
        // Only the script decides what is in one segment.
        options.noDelay = true
        let state = TextClientState(version: "10.300000", options: options)
        let client = Client("the client", state, server: server, options: options, log: log)
        try await Client.run(client) { try await script(client) }
    }
}

extension SimpleClient<TextClientState> {
    /// Sends text and waits for the server's answer to it.
    fileprivate func say(_ text: String) async throws {
        try await write(Array(text.utf8))
        try await until("the answer to \(text)") { $0.hasHeard("收到 \(text)") }
    }

    /// Sends text in two writes, split inside the second's first character, and waits for the answers: the server treats what
    /// each read completes as a message. It may send something else between them.
    fileprivate func say(_ first: String, _ second: String, pause: Double = 0.1) async throws {
        let (start, rest) = Array((first + second).utf8).cut(at: first.utf8.count + 1)
        try await perform { state in
            state.isInsideText = true
            return []
        }
        try await write(start)
        // The answer proves that a read ended there.
        try await until("the answer to \(first)") { $0.hasHeard("收到 \(first)") }
        try await wait(pause)
        try await write(rest)
        try await perform { state in
            state.isInsideText = false
            return []
        }
        try await until("the answer to \(second)") { $0.hasHeard("收到 \(second)") }
    }
}
