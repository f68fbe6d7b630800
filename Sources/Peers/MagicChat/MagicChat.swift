import Framing
import Streams

/// The reference peers of `im-magic`: login, pings, chat, and a kick.
package enum MagicChat: ReferencePeer {
    package static let format = "im-magic"
    package static let hazards = PublishedMagicReader.hazards.union(["wide-id"])
    package static let demoScale = 0.01

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        let seal = try BodySeal(try wireFormat(), key: options.key)
        let codec = try codec(of: .fromServer, options)
        try await PeerServer.run(
            MagicServerState(seal: seal), at: address, options: options, bound: bound, log: log, codec: codec)
    }

    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        let pair = MagicPair(
            server, options: options, seal: try BodySeal(try wireFormat(), key: options.key), log: log,
            codec: try codec(of: .fromClient, options))
        try await pair.converse()
    }

    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        // Only the script decides what is in one segment.
        var options = options
        options.noDelay = true
        let pair = MagicPair(
            server, options: options, seal: try BodySeal(try wireFormat(), key: options.key), log: log,
            codec: try codec(of: .fromClient, options))
        try await pair.demonstrate()
    }

    private static func codec(
        of side: Direction, _ options: PeerOptions
    ) throws -> @Sendable () -> FrameCodec {
        try options.check(hazards: hazards)
        let format = try wireFormat()
        let hazards = options.asPublished.intersection(PublishedMagicReader.hazards)
        return {
            FrameCodec(
                format, sending: side,
                reader: hazards.isEmpty ? nil : PublishedMagicReader(of: side.opposite, hazards: hazards))
        }
    }
}
