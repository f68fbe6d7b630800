import Framing
import Streams

/// The reference peers of `json-envelope`: phone numbers in JSON objects, each answered.
package enum Envelopes: ReferencePeer {
    package static let format = "json-envelope"

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check()
        let format = try wireFormat()
        try await PeerServer.run(
            EnvelopeServerState(), at: address, options: options, bound: bound, log: log
        ) { FrameCodec(format, sending: .fromServer) }
    }

    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options: options, log: log) { script, client in
            for round in 0..<options.rounds {
                // How many envelopes are sent in one write.
                var next = 20 * round
                for (index, count) in [1, 1, 1, 1, 3, 1, 5, 2, 1, 4].enumerated() {
                    let envelopes = (next..<next + count).map { Envelope.phoneNumber($0) }
                    next += count
                    try await show(envelopes, cutAt: index % 4 == 2 ? [30] : [], script, client)
                }
            }
        }
    }

    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options: options, log: log) { script, client in
            var next = 0
            // One alone, three merged, one split, and two that are split and merged.
            for (count, cut) in [(1, []), (3, []), (1, [22]), (2, [70])] {
                try await script.wait(0.3)
                let envelopes = (next..<next + count).map { Envelope.phoneNumber($0) }
                next += count
                try await show(envelopes, cutAt: cut, script, client)
            }
            try await script.wait(0.3)
        }
    }

    private static func run(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog,
        steps: (PeerScript, PeerClient<EnvelopeClientState>) async throws -> Void
    ) async throws {
        try options.check()
        // Only the script decides what is in one segment.
        var options = options
        options.noDelay = true
        let format = try wireFormat()
        let script = PeerScript(options)
        let client = PeerClient(EnvelopeClientState(), of: server, options: options, log: log) {
            FrameCodec(format, sending: .fromClient)
        }
        try await script.run([client]) { try await steps(script, client) }
    }

    /// Sends envelopes back to back, and waits for their answers.
    private static func show(
        _ envelopes: [Envelope], cutAt places: [Int], _ script: PeerScript, _ client: PeerClient<EnvelopeClientState>
    ) async throws {
        let parts = envelopes.flatMap(\.bytes).cut(at: places)
        try await client.send(parts: parts, pause: script.options.scaled(.seconds(0.1)))
        for envelope in envelopes {
            try await client.wait(for: "the answer to \(envelope)", within: script.patience) {
                $0.answered.contains(envelope.body)
            }
        }
    }
}
