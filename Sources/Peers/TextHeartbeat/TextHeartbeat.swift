import Framing
import Streams

/// The reference peers of `text-heartbeat`: undelimited text (WIRE-FORMATS §6).
package enum TextHeartbeat: ReferencePeer {
    package static let format = "text-heartbeat"
    /// The hazards that its server can reproduce.
    static let hazards: Set<String> = ["keyed-by-text", "cut-character"]

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        let state = TextServerState(try wireFormat(), options: options)
        try await SimpleServer.run(state, at: address, options: options, bound: bound, log: log)
    }

    /// Two heartbeats, 5 and 10 s after connecting, and text both ways between them: 10.3 s for each round.
    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        let client = client(of: server, options, log)
        try await SimpleClient.run(client) {
            for round in 0..<options.rounds {
                try await client.until("a heartbeat", after: 5) { $0.heartbeats > 2 * round }
                try await client.say("Hello", in: round)
                try await client.say("你好，服务器", in: round)
                try await client.until("a second heartbeat", after: 5) { $0.heartbeats > 2 * round + 1 }
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
        try options.check(hazards: hazards)
        var options = options
        options.noDelay = true
        let client = client(of: server, options, log)
        try await SimpleClient.run(client) {
            try await client.until("a heartbeat", after: 5) { $0.heartbeats == 1 }
            try await client.wait(1)
            try await client.say("Hello", in: 0)
            try await client.wait(1)
            let (first, rest) = Array("你好".utf8).cut(at: 4)
            try await client.write(first, rest, pause: 1)
            try await client.until("the answer to 你好") { $0.hasHeard("好") }
            try await client.until("a second heartbeat", after: 5) { $0.heartbeats == 2 }
            try await client.wait(2)
            try await client.perform { state in
                state.heartbeatsToSkip = 3
                return state.connection.map { [.write(state.heartbeat + state.heartbeat, connection: $0)] } ?? []
            }
            try await client.until("a heartbeat after the gap", after: 20) { $0.heartbeats == 3 }
            try await client.wait(1)
        }
    }

    private static func client(
        of server: PeerAddress, _ options: PeerOptions, _ log: @escaping PeerLog
    ) -> SimpleClient<TextClientState> {
        let state = TextClientState(version: "10.300000", options: options)
        return SimpleClient("the client", state, server: server, options: options, log: log)
    }

    private static func wireFormat() throws -> Format { try SimpleFormat.named(format) }
}

extension SimpleClient<TextClientState> {
    /// Sends text and waits for the server's answer to it.
    fileprivate func say(_ text: String, in round: Int) async throws {
        let text = round == 0 ? text : "\(text) \(round + 1)"
        try await write(Array(text.utf8))
        try await until("the answer to \(text)") { $0.hasHeard("收到 \(text)") }
    }
}
