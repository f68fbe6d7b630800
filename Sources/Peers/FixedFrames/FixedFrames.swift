import Streams

/// The reference peers of `fixed`: frames of four bytes, echoed.
package enum FixedFrames: ReferencePeer {
    package static let format = "fixed"
    package static let hazards: Set = ["counts-characters"]

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        let codec = try codec(of: .fromServer, options)
        try await PeerServer.run(
            FixedEchoState(), at: address, options: options, bound: bound, log: log, codec: codec)
    }

    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        var arrays = TestArray.all
        if options.asPublished.contains("counts-characters") { arrays.append(.beyondASCII) }
        for _ in 0..<max(options.rounds, 1) {
            for array in arrays { try await run(array, with: server, options: options, log: log) }
        }
    }

    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(.mixed, with: server, options: options, log: log)
    }

    /// Sends one array on a connection of its own, and waits for the echo of all its frames.
    static func run(
        _ array: TestArray, with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        // Only the array decides what is in one segment.
        var options = options
        options.noDelay = true
        let script = PeerScript(options)
        let client = PeerClient(
            FixedClientState(name: array.name), of: server, options: options, log: log,
            codec: try codec(of: .fromClient, options))
        try await script.run([client]) {
            try await client.send(parts: array.parts, pause: max(options.scaled(.seconds(0.1)), .seconds(0.02)))
            let whole = array.echo
            try await client.wait(for: "the echo of \(whole.count) bytes", within: script.patience) {
                $0.echoed.count >= whole.count
            }
            try await client.wait(for: "the same \(whole.count) bytes", within: .seconds(0)) { $0.echoed == whole }
            // Bytes that must not arrive would arrive now.
            try await script.wait(0.1)
            try await client.wait(for: "no more than \(whole.count) bytes", within: .seconds(0)) { $0.echoed == whole }
        }
    }

    private static func codec(
        of side: Direction, _ options: PeerOptions
    ) throws -> @Sendable () -> FrameCodec {
        try options.check(hazards: hazards)
        let format = try wireFormat()
        let countsCharacters = options.asPublished.contains("counts-characters")
        return { FrameCodec(format, sending: side, reader: countsCharacters ? CharacterCounter() : nil) }
    }
}
