import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `text-heartbeat`: the server that crashes inside a character, and identifies its clients by their text.
@Suite struct TextHazardTests {
    private static let time = Timestamp(nanoseconds: 0)

    /// A server that has crashed is restarted: each read at which it crashes is reported.
    @Test func everyCutCharacter() async throws {
        var options = PeerOptions()
        options.asPublished = [Hazard.cutCharacter.rawValue]
        let setup = try PeerSetup(TextHeartbeat.self, options)
        try await HazardRounds.rounds { generator, seed in
            let texts = ["12310.300000", "Hello", "你好", "é", "😀", "12310.30000012310.300000再"]
            let whole = (0..<3).map { _ in Array((texts.randomElement(using: &generator) ?? "").utf8) }
            var chunks = HazardRounds.cut(whole, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: chunks.append(generator.bytes(2))
            case 1: chunks = whole
            default: break
            }
            var crashes: [Int] = []
            var offset = 0
            for chunk in chunks {
                var server = PeerSession(TextServer(setup))
                _ = server.opened(1, by: "a client", at: Self.time)
                let actions = server.received(chunk, on: 1, at: Self.time)
                offset += chunk.count
                if actions.contains(.close()) { crashes.append(offset) }
            }
            let traced = try HazardRounds.trace(.cutCharacter, "text-heartbeat", chunks, from: .fromClient)
            #expect(traced.reported.map { $0.offset + $0.length } == crashes, "seed \(seed): \(traced), \(chunks)")
            // The published client only shows what it receives.
            let others = try HazardRounds.trace(.cutCharacter, "text-heartbeat", chunks, from: .fromServer)
            #expect(others.reported.isEmpty)
            return !crashes.isEmpty
        }
    }

    /// The text of several clients, read by read.
    private struct Said {
        var connection: Int
        var offset: Int
        var bytes: [UInt8]
    }

    /// Each read at which the published server's list of clients differs from the connections, had it been correct before.
    @Test func clientsKnownByTheirText() async throws {
        try await HazardRounds.rounds(300) { generator, seed in
            let versions = (1...3).map { _ in
                "12\(Int.random(in: 30...36, using: &generator)).300000"
            }
            var events: [HazardRounds.Event] = []
            var wrong: [Said] = []
            var offsets: [Int: Int] = [:]
            var known: Set<Int> = []
            var left: Set<Int> = []
            for _ in 0..<8 {
                let number = Int.random(in: 1...3, using: &generator)
                if left.contains(number) { continue }
                if Int.random(in: 0..<12, using: &generator) == 0, offsets[number] != nil {
                    left.insert(number)
                    known.remove(number)
                    events.append(.end(connection: number))
                    continue
                }
                let own = Array(versions[number - 1].utf8)
                let bytes: [UInt8]
                switch Int.random(in: 0..<30, using: &generator) {
                case 0: bytes = own + own
                case 1: bytes = Array("Hello".utf8)
                case 2: bytes = own + Array("Hello".utf8)
                case 3: bytes = Array(own.dropLast(2))
                default: bytes = own
                }
                // A published server with the correct list of clients, which then reads this.
                var published = ClientsByText()
                let others = Set(known.subtracting([number]).map { Array(versions[$0 - 1].utf8) })
                for other in others { _ = published.heard(other, at: Self.time) }
                _ = published.heard(bytes, at: Self.time)
                let right = (Array(others) + [own]).sorted { $0.lexicographicallyPrecedes($1) }
                if published.lastHeard.keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) != right {
                    wrong.append(Said(connection: number, offset: offsets[number, default: 0], bytes: bytes))
                }
                if bytes == own { known.insert(number) }
                offsets[number, default: 0] += bytes.count
                events.append(.read(bytes, .fromClient, connection: number))
            }
            let traced = try HazardRounds.trace(.keyedByText, "text-heartbeat", events)
            let due = traced.items.filter { item in
                wrong.contains {
                    $0.connection == item.connection && ($0.offset..<$0.offset + $0.bytes.count).contains(item.offset)
                }
            }
            #expect(traced.reported == due, "seed \(seed): \(traced), \(events)")
            return !due.isEmpty
        }
    }
}
