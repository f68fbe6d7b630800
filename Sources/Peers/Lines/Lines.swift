import Framing
import Streams

/// The reference peers of `line`: text lines.
package enum Lines: ReferencePeer {
    package static let format = "line"
    /// The server reproduces it; the published client ends with a line that the published server never understands.
    package static let hazards: Set<String> = ["per-read"]

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        let state = LineServerState(try SimpleFormat.named(format), options: options)
        try await SimpleServer.run(state, at: address, options: options, bound: bound, log: log)
    }

    /// Three lines, two of them merged in one write and one split over two, and `esc`. A connection and 0.2 s for each
    /// round.
    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        for _ in 0..<options.rounds { try await talk(to: server, pause: 0, options, log) }
    }

    /// The same, with time to look at each. Takes about 1 s before scaling.
    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await talk(to: server, pause: 0.25, options, log)
    }

    private static func talk(
        to server: PeerAddress, pause: Double, _ options: PeerOptions, _ log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        var options = options
        // Only the script decides what is in one segment.
        options.noDelay = true
        let state = LineClientState(try SimpleFormat.named(format))
        let client = SimpleClient("the client", state, server: server, options: options, log: log)
        try await SimpleClient.run(client) {
            try await client.wait(pause)
            try await client.write(Array("How are you?\nAnd where?\r\n".utf8))
            try await client.until("two answers") { $0.answers == 2 }
            try await client.wait(pause)
            // Inside 好, so that a line is split inside a character too.
            let (first, rest) = Array("你好\r\n".utf8).cut(at: 4)
            try await client.write(first, rest)
            try await client.until("three answers") { $0.answers == 3 }
            try await client.wait(pause)
            let end = options.asPublished.contains("per-read") ? "esc\n" : "esc\r\n"
            try await client.write(Array(end.utf8))
            try await client.until("the end of the session") { !$0.isConnected }
        }
    }
}
