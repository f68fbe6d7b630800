import Framing
import Peers
import Streams
import Systems
import Testing
import Trace
import TraceTesting

/// A client is run through a proxy in the test's process.
@Suite struct RecordTraceTests {
    /// Runs a reference server, and its clients through the proxy.
    private func record(_ peer: any ReferencePeer.Type, rules: [String] = []) async throws -> TestTrace {
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
        return try await recordTrace(format: peer.format, to: "\(server)", rules: rules) { proxy in
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

    /// A rule does something to the conversation, and the trace says so.
    @Test func rulesApply() async throws {
        let peer = try #require(ReferencePeers.peer(for: "json-envelope"))
        let trace = try await record(peer, rules: ["delay: 2 ms; every: 5; from: client; name: slow"])
        #expect(trace.frames(type: "phoneNum").count == 20)
        let delayed = trace.frames.count { $0.from == .fromClient } / 5
        #expect(trace.actions.count == delayed && delayed > 0)
        #expect(trace.actions.allSatisfy { $0.report.rule == "slow" && $0.report.detail == "2 ms later" })
        #expect(try TestTrace(ndjson: trace.ndjson).actions == trace.actions)
        await #expect(throws: (any Error).self) { _ = try await record(peer, rules: ["dealy: 2 ms"]) }
        await #expect(throws: TraceTestingError.self) {
            _ = try await recordTrace(to: "127.0.0.1:1", rules: ["drop: all"]) { _ in }
        }
    }

    @Test func whatTheClientThrowsIsThrown() async throws {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            _ = try await recordTrace(to: "127.0.0.1:1") { _ in throw Failure() }
        }
        await #expect(throws: TraceTestingError.self) { _ = try await recordTrace(to: "nowhere") { _ in } }
        await #expect(throws: FormatNameError.self) {
            _ = try await recordTrace(format: "im-jsn", to: "127.0.0.1:1") { _ in }
        }
    }
}
