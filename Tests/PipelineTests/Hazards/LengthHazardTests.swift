import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `len16-id` and `fixed`: invalid lengths, and characters counted as bytes.
@Suite struct LengthHazardTests {
    @Test(arguments: [Hazard.negativeLength, .doubleAppend])
    func messagesWithIDs(hazard: Hazard) async throws {
        try await HazardRounds.rounds { generator, seed in
            let bodies = (0..<4).map { _ in
                hazard == .negativeLength && Int.random(in: 0..<8, using: &generator) == 0
                    ? [UInt8](repeating: 0x61, count: Int.random(in: 0x7ff0...0x8010, using: &generator))
                    : HazardRounds.body(12, using: &generator)
            }
            var frames = try bodies.map {
                try HazardRounds.frame("len16-id", .fromServer, [Field("id", .integer(3))], $0)
            }
            let isCut = HazardRounds.cutEnd(of: &frames, using: &generator)
            let chunks = HazardRounds.cut(frames, using: &generator)
            var receiver = PublishedLengthReceiver([hazard.rawValue])
            var made: [[UInt8]?] = []
            for input in chunks.flatMap({ receiver.receive($0.span.bytes, at: Timestamp(nanoseconds: 0)) }) {
                if case .message(let message) = input { made.append(message.body) } else { made.append(nil) }
            }
            let failure = HazardRounds.firstFailure(bodies, made, lastIsCut: isCut)
            let reported = try HazardRounds.trace(hazard, "len16-id", chunks, from: .fromServer)
            #expect(reported.firstItem == failure, "\(hazard), seed \(seed): \(reported)")
            return failure != nil
        }
    }

    @Test func charactersAreNoBytes() async throws {
        try await HazardRounds.rounds { generator, seed in
            let bytes = (0..<8).flatMap { _ in
                Array(["ab", "cd", "e", "f", "ä"].randomElement(using: &generator)?.utf8 ?? "g".utf8)
            }
            let bodies = stride(from: 0, to: bytes.count - 3, by: 4).map { Array(bytes[$0..<$0 + 4]) }
            let chunks = HazardRounds.cut([bytes], using: &generator)
            var receiver = CharacterCounter()
            var made: [[UInt8]?] = []
            for input in chunks.flatMap({ receiver.receive($0.span.bytes, at: Timestamp(nanoseconds: 0)) }) {
                if case .message(let message) = input { made.append(message.body) }
            }
            let failure = HazardRounds.firstFailure(bodies, made)
            let reported = try HazardRounds.trace(.countsCharacters, "fixed", chunks, from: .fromClient).frames
            #expect(reported.first == failure, "seed \(seed): \(reported), \(bytes)")
            return failure != nil
        }
    }
}
