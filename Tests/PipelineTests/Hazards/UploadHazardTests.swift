import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `tlv32`: the server's buffer.
@Suite struct UploadHazardTests {
    private func upload(using generator: inout SeededGenerator) -> Upload {
        let command = UInt32.random(in: 1...8, using: &generator)
        return Upload(command: command > 4 ? 2 : command, payload: HazardRounds.body(20, using: &generator))
    }

    @Test(arguments: [Hazard.mergedFrames, .shortFirstRead, .keptBuffer])
    func uploads(hazard: Hazard) async throws {
        try await HazardRounds.rounds { generator, seed in
            let uploads = (0..<4).map { _ in upload(using: &generator) }
            var frames = uploads.map(\.bytes)
            let isCut = HazardRounds.cutEnd(of: &frames, using: &generator)
            let chunks = HazardRounds.cut(frames, using: &generator)
            var receiver = PublishedUploadReceiver([hazard.rawValue])
            var made: [[UInt8]?] = []
            for output in chunks.flatMap({ receiver.receive($0, on: 1) }) {
                if case .message(let frame) = output { made.append(frame.body) } else { made.append(nil) }
            }
            let failure = HazardRounds.firstFailure(uploads.map(\.payload), made, lastIsCut: isCut)
            let reported = try HazardRounds.trace(hazard, "tlv32", chunks, from: .fromClient)
            #expect(reported.firstItem == failure, "\(hazard), seed \(seed): \(reported), \(chunks)")
            return failure != nil
        }
    }

    /// An upload that a connection's receiver completes.
    private struct Stored: Hashable {
        var connection: Int
        var frame: PeerMessage?
    }

    /// Several clients upload at once; some leave in the middle of a frame, and others come after them.
    @Test func clientsOfOneBuffer() async throws {
        try await HazardRounds.rounds(300) { generator, seed in
            var waiting: [Int: [[UInt8]]] = [:]
            for number in 1...4 {
                var frames = (0..<2).map { _ in upload(using: &generator).bytes }
                if Int.random(in: 0..<8, using: &generator) == 0 {
                    frames[1].removeLast(Int.random(in: 1..<frames[1].count, using: &generator))
                }
                waiting[number] = frames.flatMap { frame -> [[UInt8]] in
                    guard frame.count > 1, Int.random(in: 0..<3, using: &generator) == 0 else { return [frame] }
                    let (first, rest) = frame.cut(at: Int.random(in: 1..<frame.count, using: &generator))
                    return [first, rest]
                }
            }
            var events: [HazardRounds.Event] = []
            var shared = PublishedUploadReceiver([Hazard.sharedBuffer.rawValue])
            var right = PublishedUploadReceiver([])
            var (made, due): ([Stored], [Stored]) = ([], [])
            var number = 1
            while let numbers = Optional(waiting.keys.sorted()), !numbers.isEmpty {
                if waiting[number] == nil || Int.random(in: 0..<4, using: &generator) == 0 {
                    number = numbers.randomElement(using: &generator) ?? number
                }
                guard let chunk = waiting[number]?.first, !chunk.isEmpty else {
                    waiting[number] = nil
                    events.append(.end(connection: number))
                    shared.closed(number)
                    right.closed(number)
                    continue
                }
                waiting[number]?.removeFirst()
                if waiting[number]?.isEmpty == true { waiting[number] = [[]] }
                events.append(.read(chunk, .fromClient, connection: number))
                if Bool.random(using: &generator) { events.append(.pause(.milliseconds(1))) }
                made += shared.receive(chunk, on: number).map { output in
                    if case .message(let frame) = output {
                        Stored(connection: number, frame: frame)
                    } else {
                        Stored(connection: number, frame: nil)
                    }
                }
                due += right.receive(chunk, on: number).map { output in
                    if case .message(let frame) = output {
                        Stored(connection: number, frame: frame)
                    } else {
                        Stored(connection: number, frame: nil)
                    }
                }
            }
            let same = zip(made, due).prefix { $0 == $1 }.count
            var failure: [Int]?
            if same < due.count {
                let connection = due[same].connection
                failure = [connection, due[..<same].count { $0.connection == connection }]
            }
            let traced = try HazardRounds.trace(.sharedBuffer, "tlv32", events)
            let reported = traced.reported.first.map { [$0.connection, $0.index ?? -1] }
            #expect(reported == failure, "seed \(seed): \(traced), \(events)")
            return failure != nil
        }
    }

    /// Stores nothing, and never fails.
    private struct Storage: UploadStorage {
        let place = "nowhere"
        func store(_ upload: Upload) {}
        func remove() {}
    }

    /// A server's answers to uploads that it can store.
    private func answers(_ uploads: [Upload], _ hazards: Set<String>) throws -> [[UInt8]] {
        var options = PeerOptions()
        options.asPublished = hazards
        let time = Timestamp(nanoseconds: 0)
        let setup = try PeerSetup(Uploads.self, options) { () throws(PeerError) in Storage() }
        var server = PeerSession(try UploadServer(setup))
        _ = server.opened(1, by: "a client", at: time)
        return uploads.flatMap { upload in
            server.received(upload.bytes, on: 1, at: time)
                .compactMap { if case .send(.bytes(let bytes), _) = $0 { bytes } else { nil } }
        }
    }

    /// Each answer of a server that always reports failure; those of a correct one are not reported, even if it rejects unknown
    /// uploads.
    @Test func answersOfFailure() async throws {
        try await HazardRounds.rounds { generator, seed in
            let count = Int.random(in: 1...3, using: &generator)
            let uploads = (0..<count).map { _ in
                Upload(
                    command: .random(in: 1...14, using: &generator), payload: HazardRounds.body(9, using: &generator))
            }
            let (right, made) = (try answers(uploads, []), try answers(uploads, [Hazard.alwaysFailure.rawValue]))
            let wrong = right.indices.filter { right[$0] != made[$0] }
            let chunks = HazardRounds.cut(made, using: &generator)
            let reported = try HazardRounds.trace(.alwaysFailure, "tlv32", chunks, from: .fromServer).frames
            #expect(reported == wrong, "seed \(seed): \(uploads)")
            let rightChunks = HazardRounds.cut(right, using: &generator)
            #expect(try HazardRounds.trace(.alwaysFailure, "tlv32", rightChunks, from: .fromServer).reported.isEmpty)
            return !wrong.isEmpty
        }
    }
}
