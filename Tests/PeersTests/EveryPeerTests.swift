import Framing
import Streams
import Synchronization
import Systems
import Testing

@testable import Peers

/// Every reference peer with real sockets on loopback, at a small time scale.
@Suite struct EveryPeerTests {
    static let formats = ReferencePeers.all.map { $0.format }

    private func options(_ hazards: String = "", key: [UInt8]? = nil) -> PeerOptions {
        var options = PeerOptions()
        options.timeScale = 0.1
        options.asPublished = Set(hazards.split(separator: ",").map(String.init))
        options.key = key
        if hazards.isEmpty {
            options = SimplePeers.patientOptions(timeScale: options.timeScale)
            options.key = key
        }
        return options
    }

    /// Runs something against a format's server.
    private func serving(
        _ format: String, _ options: PeerOptions,
        _ script: (any ReferencePeer.Type, PeerAddress) async throws -> Void
    ) async throws {
        let peer = try #require(ReferencePeers.peer(for: format))
        let (bound, continuation) = AsyncStream.makeStream(of: Endpoint.self)
        let server = Task {
            try await peer.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: options, bound: { continuation.yield($0) },
                log: { _ in })
        }
        defer { server.cancel() }
        let endpoint = try #require(await bound.first { _ in true })
        try await script(peer, PeerAddress(endpoint))
        server.cancel()
        try await server.value
    }

    @Test(arguments: formats) func theConversationArrives(format: String) async throws {
        try await serving(format, options()) { peer, server in
            try await peer.converse(with: server, options: options(), log: { _ in })
        }
    }

    @Test(arguments: formats) func theDemonstrationArrives(format: String) async throws {
        try await serving(format, options()) { peer, server in
            var options = options()
            options.timeScale = min(peer.demoScale, 0.1)
            try await peer.demonstrate(to: server, options: options, log: { _ in })
        }
    }

    @Test func bodiesMayBeEncrypted() async throws {
        let options = options(key: Array("0123456789abcdef".utf8))
        try await serving("im-magic", options) { peer, server in
            try await peer.converse(with: server, options: options, log: { _ in })
        }
    }

    /// The server, or the clients, as published: the fault is noticed on the other side.
    @Test(arguments: [
        ("fixed", "counts-characters", ""), ("im-magic", "", "empty-body"), ("im-magic", "", "wide-id"),
        ("marker", "split-frame,lost-receipt", ""), ("marker", "lost-receipt", "lost-receipt"),
        ("im-json", "zero-size-body", "zero-size-body"), ("im-json", "", "zero-size-body"),
        ("im-json", "bad-head", "bad-head"), ("im-json", "bad-head,endless-head", "endless-head"),
    ])
    func hazardsHaveTheirEffect(format: String, atTheServer: String, atTheClient: String) async throws {
        try await serving(format, options(atTheServer)) { peer, server in
            var options = options(atTheClient)
            // The input that triggers it is the client's.
            if format == "fixed" { options.asPublished = ["counts-characters"] }
            options.leastWait = PeerOptions().leastWait
            // On a busy machine, what is split may arrive at once.
            var isNoticed = false
            for _ in 0..<(atTheServer.hasPrefix("split-frame") ? 5 : 1) where !isNoticed {
                do { try await peer.converse(with: server, options: options, log: { _ in }) } catch is PeerError {
                    isNoticed = true
                }
            }
            #expect(isNoticed)
        }
    }

    /// The data that triggers a hazard does no harm to a correct server, nor to clients that do not receive it.
    @Test(arguments: ["bad-head", "endless-head", "stale-head"]) func aRelayThatIsRightIsNotImpressed(hazard: String)
        async throws
    {
        try await serving("im-json", options()) { peer, server in
            try await peer.converse(with: server, options: options(hazard), log: { _ in })
        }
    }

    @Test(arguments: formats) func unknownHazardsAreRefused(format: String) async throws {
        let peer = try #require(ReferencePeers.peer(for: format))
        await #expect(throws: PeerError("cannot reproduce the hazard none-such")) {
            try await peer.converse(
                with: PeerAddress(host: "127.0.0.1", port: 1), options: options("none-such"), log: { _ in })
        }
        let known = try SimplePeers.format(format).hazards.map(\.name)
        #expect(peer.hazards.isSubset(of: known), "the format file lists them as well")
    }

    @Test func aCancelledConversationEndsAtOnce() async throws {
        var slow = options()
        slow.timeScale = 100
        let long = slow
        try await serving("marker", long) { peer, server in
            let said = SimplePeers.Lines()
            let conversation = Task { try await peer.converse(with: server, options: long, log: { said.add($0) }) }
            try await SimplePeers.eventually("the client says something") { !said.all.isEmpty }
            conversation.cancel()
            await #expect(throws: CancellationError.self) { try await conversation.value }
        }
    }

    @Test func aServerThatIsNotThereIsSaid() async throws {
        let free = Mutex<PeerAddress?>(nil)
        try await serving("fixed", options()) { _, server in free.withLock { $0 = server } }
        let address = try #require(free.withLock { $0 })
        let error = await #expect(throws: PeerError.self) {
            try await FixedFrames.converse(with: address, options: options(), log: { _ in })
        }
        #expect(error?.description == "whole could not connect to \(address): Connection refused")
    }
}
