import Framing
import Streams

/// The reference peers of `im-json`, a chat relay.
package enum ChatRelay: ReferencePeer {
    package static let format = "im-json"
    package static let hazards = PublishedHeadReader.hazards

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        let format = try wireFormat()
        let state = ChatRelayState(
            silence: options.tolerated(.seconds(20)), sweepInterval: options.scaled(.seconds(30)),
            storeOffline: options.storeOffline)
        try await PeerServer.run(state, at: address, options: options, bound: bound, log: log) {
            let reader = options.asPublished.isEmpty ? nil : PublishedHeadReader(hazards: options.asPublished)
            return FrameCodec(format, sending: .fromServer, reader: reader)
        }
    }

    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        try await ChatPair.run(wireFormat(), with: server, options: options, log: log) { pair in
            try await pair.converse()
        }
    }

    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        // Only the script decides what is in one segment.
        var options = options
        options.noDelay = true
        try await ChatPair.run(wireFormat(), with: server, options: options, log: log) { pair in
            try await pair.demonstrate()
        }
    }
}
