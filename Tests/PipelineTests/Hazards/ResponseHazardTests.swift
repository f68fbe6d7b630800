import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `tlv32`: the client that treats each read as one answer.
@Suite struct ResponseHazardTests {
    private static let time = Timestamp(nanoseconds: 0)

    private func client(_ hazards: Set<String>, _ uploads: [Upload]) throws -> PeerSession<UploadClient> {
        var options = PeerOptions()
        options.asPublished = hazards
        var client = PeerSession(UploadClient(try PeerSetup(Uploads.self, options)))
        _ = client.opened(1, by: "a server", at: Self.time)
        _ = client.change { $0.expect(uploads) }
        return client
    }

    private func uploads(_ count: Int, using generator: inout SeededGenerator) -> [Upload] {
        (0..<count).map { _ in Upload(command: .random(in: 1...4, using: &generator), payload: [0x61]) }
    }

    @Test(arguments: [Hazard.shortResponse, .mergedResponses])
    func answers(hazard: Hazard) async throws {
        try await HazardRounds.rounds(300) { generator, seed in
            let uploads = uploads(4, using: &generator)
            var answers = uploads.map { UploadResponse(command: $0.command, isSuccess: true).bytes }
            if Int.random(in: 0..<8, using: &generator) == 0 {
                answers[3].removeLast(Int.random(in: 1..<12, using: &generator))
            }
            var chunks = HazardRounds.cut(answers, using: &generator)
            // Half of them are long enough, whatever they contain.
            if Bool.random(using: &generator) {
                chunks = chunks.reduce(into: []) { joined, chunk in
                    if let last = joined.last, last.count < 12 || chunk.count < 12 {
                        joined[joined.count - 1] += chunk
                    } else {
                        joined.append(chunk)
                    }
                }
            }
            var published = try client([hazard.rawValue], uploads)
            var right = try client([], uploads)
            var failure: Int?
            for chunk in chunks where failure == nil {
                let actions = published.received(chunk, on: 1, at: Self.time)
                _ = right.received(chunk, on: 1, at: Self.time)
                let isBehind = published.machine.stored < right.machine.stored || actions.contains(.close())
                if isBehind { failure = 12 * published.machine.stored }
            }
            let traced = try HazardRounds.trace(hazard, "tlv32", chunks, from: .fromServer)
            #expect(traced.first == failure, "\(hazard), seed \(seed): \(traced), \(chunks.map(\.count))")
            return failure != nil
        }
    }

    /// Reads of whole answers: the client continues, and each answer that it drops is reported.
    @Test func everyAnswerThatIsDropped() async throws {
        try await HazardRounds.rounds { generator, seed in
            var chunks: [[UInt8]] = []
            var dropped: [Int] = []
            var index = 0
            for _ in 0..<4 {
                let count = Int.random(in: 0..<4, using: &generator) == 0 ? Int.random(in: 2...3, using: &generator) : 1
                let uploads = uploads(count, using: &generator)
                chunks.append(uploads.flatMap { UploadResponse(command: $0.command, isSuccess: true).bytes })
                var client = try client([Hazard.mergedResponses.rawValue], uploads)
                _ = client.received(chunks[chunks.count - 1], on: 1, at: Self.time)
                dropped += index + client.machine.stored..<index + count
                index += count
            }
            let traced = try HazardRounds.trace(.mergedResponses, "tlv32", chunks, from: .fromServer)
            #expect(traced.frames == dropped, "seed \(seed): \(chunks.map(\.count))")
            return !dropped.isEmpty
        }
    }
}
