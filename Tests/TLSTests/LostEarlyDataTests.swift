import Foundation
import Streams
import TLS
import Testing

/// Early data that was accepted, without its secret.
struct LostEarlyDataTests {
    private func keys() throws -> KeyLog {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "fixtures/tls/tls13-early-accepted.keys")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        let text = Array(lines.filter { !$0.hasPrefix("CLIENT_EARLY_TRAFFIC_SECRET") }.joined(separator: "\n").utf8)
        var keys = KeyLog()
        #expect(keys.add(text.span.bytes).isEmpty && keys.endText().isEmpty)
        return keys
    }

    @Test func `it is lost, and its label reported`() throws {
        let recording = try Recording("tls13-early-accepted")
        let whole = run(recording.connections[1], recording.keys).log
        let log = run(recording.connections[1], try keys()).log
        #expect(log.text(.fromClient) == Array(whole.text(.fromClient).dropFirst(300)))
        // The data, and EndOfEarlyData.
        #expect(log.entries.fromClient.filter(\.isLoss) == [.lost(300, isExact: false, records: 2)])
        let labels = log.allEvents.compactMap { event -> KeyLogLabel? in
            if case .keysMissing(_, let label) = event { label } else { nil }
        }
        #expect(labels == [.clientEarlyTrafficSecret] && log.failures.isEmpty)
        #expect(log.text(.fromServer) == whole.text(.fromServer))
    }

    /// A gap after it costs what it has, and what came before it is lost all the same.
    @Test func `a gap does not hide it`() throws {
        let recording = try Recording("tls13-early-accepted")
        var steps = recording.connections[1]
        let sent = steps.indices.filter { if case .bytes(_, .fromClient) = steps[$0] { true } else { false } }
        // EndOfEarlyData and Finished.
        let second = try #require(sent.dropFirst().first)
        guard case .bytes(let bytes, let direction) = steps[second] else { return }
        steps[second] = .missing(bytes.count, direction)
        let log = run(steps, try keys()).log
        #expect(log.entries.fromClient.first(where: \.isLoss) == .lost(300, isExact: false, records: 1))
        #expect(log.text(.fromClient).count == 226)
    }

    @Test func `it is lost, too, if the client sends nothing more`() throws {
        let recording = try Recording("tls13-early-accepted")
        let steps = recording.connections[1].prefix { $0 != recording.connections[1][2] }
        let log = run(Array(steps) + Recording.ends, try keys()).log
        #expect(log.text(.fromClient).isEmpty)
        #expect(log.entries.fromClient.filter(\.isLoss) == [.lost(300, isExact: false, records: 1)])
    }
}
