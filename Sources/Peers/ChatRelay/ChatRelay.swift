import Streams

/// The reference peers of `im-json`, a chat relay (WIRE-FORMATS §1).
package enum ChatRelay: ReferencePeer {
    package static let format = "im-json"

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check()
        try await ChatRelayServer.run(wireFormat(), at: address, options: options, bound: bound, log: log)
    }

    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try options.check()
        try await ChatPair.run(wireFormat(), with: server, options: options, log: log) { pair in
            try await pair.converse()
        }
    }

    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try options.check()
        // What lies in one segment is up to the script alone.
        var options = options
        options.noDelay = true
        try await ChatPair.run(wireFormat(), with: server, options: options, log: log) { pair in
            try await pair.demonstrate()
        }
    }
}
