import Framing
import Peers
import Streams
import Testing
import TraceTesting

/// A client is run through a proxy in the test's process.
@Suite struct RecordTraceTests {
    /// Runs a reference server, and its clients through the proxy.
    private func record(_ peer: any ReferencePeer.Type) async throws -> TestTrace {
        let (bound, announce) = AsyncStream.makeStream(of: Endpoint.self)
        let serving = Task {
            defer { announce.finish() }
            try await peer.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: PeerOptions(), bound: { announce.yield($0) },
                log: { _ in })
        }
        defer { serving.cancel() }
        var addresses = bound.makeAsyncIterator()
        let server = try #require(await addresses.next())
        return try await recordTrace(format: peer.format, to: "\(server)") { proxy in
            try await peer.converse(
                with: PeerAddress(host: proxy.host, port: proxy.port), options: PeerOptions(), log: { _ in })
        }
    }

    @Test func aClientSpeaksAsItDid() async throws {
        let peer = try #require(ReferencePeers.peer(for: "json-envelope"))
        let trace = try await record(peer)
        #expect(trace.frames(type: "phoneNum").count == 20)
        #expect(trace.unframed.isEmpty)
        try await expectTrace(trace, matches: "../../fixtures/json-envelope/conversation.ndjson")
    }

    @Test func whatTheClientThrowsIsThrown() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            _ = try await recordTrace(to: "127.0.0.1:1") { _ in throw Failure() }
        }
        await #expect(throws: TraceTestingError.self) { _ = try await recordTrace(to: "nowhere") { _ in } }
        await #expect(throws: TraceTestingError.self) {
            _ = try await recordTrace(format: "im-jsn", to: "127.0.0.1:1") { _ in }
        }
    }
}
