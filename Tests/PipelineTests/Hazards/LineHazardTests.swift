import Framing
import Streams
import TestSupport
import Testing

@testable import Systems

/// `line`: the server that treats each read as a line.
@Suite struct LineHazardTests {
    private static let time = Timestamp(nanoseconds: 0)

    /// A server's result for one read: the lines that it logs, and whether the session is over.
    private func deeds(_ actions: [PeerAction]) -> [String] {
        actions.compactMap { action in
            switch action {
            case .log(let line): line
            case .close: "the end"
            default: nil
            }
        }
    }

    private func server(_ hazards: Set<String>) throws -> PeerSession<LineServer> {
        var options = PeerOptions()
        options.asPublished = hazards
        var server = PeerSession(LineServer(try PeerSetup(Lines.self, options)))
        _ = server.opened(1, by: "a client", at: Self.time)
        return server
    }

    private func said(_ bytes: [UInt8]) -> String {
        "#1 " + FieldValue.text(String(decoding: bytes, as: UTF8.self)).shortDescription
    }

    /// The published server answers each read and continues, whatever it was. Each line that does not get exactly one answer is
    /// reported.
    @Test func everyLine() async throws {
        try await HazardRounds.rounds(300) { generator, seed in
            let lines = (0..<3).map { _ in
                let text =
                    Int.random(in: 0..<12, using: &generator) == 0
                    ? Array("esc".utf8) : HazardRounds.body(5, using: &generator)
                return text + Array((Bool.random(using: &generator) ? "\r\n" : "\n").utf8)
            }
            let rest = Int.random(in: 0..<8, using: &generator) == 0 ? Array("rest".utf8) : []
            var chunks = HazardRounds.cut(lines + [rest], using: &generator)
            if Bool.random(using: &generator) { chunks = (lines + [rest]).filter { !$0.isEmpty } }
            // Each read is judged as if everything before it had been correct: by servers that know nothing but the preceding
            // lines.
            var wrong: Set<Int> = []
            var at = 0
            let traced = try HazardRounds.trace(.perRead, "line", chunks, from: .fromClient)
            for chunk in chunks {
                let read = at..<at + chunk.count
                at += chunk.count
                var (published, right) = (try server([Hazard.perRead.rawValue]), try server([]))
                let made = deeds(published.received(chunk, on: 1, at: Self.time))
                let before = traced.items.last { $0.offset <= read.lowerBound }?.offset ?? 0
                _ = right.received(Array(chunks.flatMap { $0 }[before..<read.lowerBound]), on: 1, at: Self.time)
                let due = deeds(right.received(chunk, on: 1, at: Self.time))
                // The published one logs the line with its terminator.
                let text = chunk.last == 0x0a ? Array(chunk.dropLast(chunk.suffix(2).first == 0x0d ? 2 : 1)) : nil
                let isRight = made == due || (text.map { due == [said($0)] } ?? false) && made == [said(chunk)]
                if isRight { continue }
                for item in traced.items
                where item.offset < read.upperBound && item.offset + item.length > read.lowerBound {
                    wrong.insert(item.offset)
                }
            }
            #expect(
                traced.reported.map(\.offset) == wrong.sorted(),
                "seed \(seed): \(traced), \(chunks.map { String(decoding: $0, as: UTF8.self) })")
            return !wrong.isEmpty
        }
    }
}
