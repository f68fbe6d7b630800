/// The reference peers of `json-envelope`: phone numbers in JSON objects, each answered.
package enum Envelopes: ReferencePeer {
    package static let format = "json-envelope"

    package static func server(_ setup: PeerSetup) -> EnvelopeServer { EnvelopeServer(setup) }

    package static func conversation(_ setup: PeerSetup) -> PeerScript<EnvelopeClient> {
        PeerScript([EnvelopeClient(setup)], opening: [.connect(0)]) { round in
            // How many envelopes are sent in one write.
            var next = 20 * round
            return [1, 1, 1, 1, 3, 1, 5, 2, 1, 4].enumerated().flatMap { index, count in
                defer { next += count }
                return show(next..<next + count, cutAt: index % 4 == 2 ? [30] : [])
            }
        }
    }

    package static func demonstration(_ setup: PeerSetup) -> PeerScript<EnvelopeClient> {
        PeerScript([EnvelopeClient(setup)], opening: [.connect(0)], closing: [.wait(0.3)]) { _ in
            // One alone, three merged, one split, and two that are split and merged.
            [(0..<1, []), (1..<4, []), (4..<5, [22]), (5..<7, [70])].flatMap { [.wait(0.3)] + show($0, cutAt: $1) }
        }
    }

    /// Sends envelopes back to back, and waits for their answers.
    private static func show(_ indices: Range<Int>, cutAt places: [Int]) -> [PeerScript<EnvelopeClient>.Step] {
        let envelopes = indices.map { Envelope.phoneNumber($0) }
        return [.send(0, .bytes(envelopes.flatMap(\.bytes)), cutAt: places)]
            + envelopes.map { envelope in
                .until(0, "the answer to \(envelope)") { $0.answered.contains(envelope.body) }
            }
    }
}
