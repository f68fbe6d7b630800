import Foundation
import Framing
import Peers
import Streams
import Systems
import Testing
import TraceTesting

/// `expectTorture`, with a reference server, as it should be and as it was published.
@Suite struct ExpectTortureTests {
    /// Runs a server while something is expected of it.
    private func serve(
        _ format: String, asPublished hazards: Set<String>, _ body: (String) async throws -> Void
    ) async throws {
        let peer = try #require(ReferencePeers.peer(for: format))
        var options = PeerOptions()
        options.asPublished = hazards
        let (bound, announce) = AsyncStream.makeStream(of: Endpoint.self)
        let serving = Task { [options] in
            defer { announce.finish() }
            try await peer.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: options, bound: { announce.yield($0) },
                log: { _ in })
        }
        defer { serving.cancel() }
        var addresses = bound.makeAsyncIterator()
        try await body("\(try #require(await addresses.next()))")
    }

    @Test func aServerThatIsRightPasses() async throws {
        try await serve("json-envelope", asPublished: []) { server in
            try await expectTorture(server: server, replaying: "../../fixtures/json-envelope/conversation.ndjson")
        }
        try await serve("line", asPublished: []) { server in
            try await expectTorture(server: server, replaying: "../../fixtures/line/conversation.ndjson")
        }
    }

    /// A trace of this capture would hide what the clients said, so that nothing could be played.
    @Test func theFramesOfACaptureArePlayedAsTheyWere() async throws {
        let format = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-secret-\(UUID()).yaml")
        defer { try? FileManager.default.removeItem(at: format) }
        let yaml = #"""
            format: secrets
            framing: { rule: delimiter, end: ["\r\n", "\n"] }
            body: text
            secret: [body]

            """#
        try Data(yaml.utf8).write(to: format)
        try await serve("line", asPublished: []) { server in
            try await expectTorture(
                server: server, replaying: "../../fixtures/line/conversation.pcap", format: format.path)
        }
    }

    @Test(arguments: [nil, "auto"] as [String?]) func aServerThatTakesReadsForLinesFails(format: String?) async throws {
        try await serve("line", asPublished: ["per-read"]) { server in
            try await withKnownIssue {
                try await expectTorture(
                    server: server, replaying: "../../fixtures/line/conversation.ndjson", format: format)
            } matching: { issue in
                issue.comments.contains { $0.rawValue.contains("breaks where ") }
            }
        }
    }
}
