import Framing
import Streams
import Systems
import Testing

@testable import Peers

/// A relay that closes its first connection in the middle of a frame, and a client that reconnects.
@Suite struct StaleHeadTests {
    /// Sends a part of a frame on its first connection, and whole ones on the others.
    private struct CuttingRelay: PeerMachine {
        let setup: PeerSetup
        let frame: [UInt8]
        let cut: Int

        func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
            number == 1
                ? [.send(.bytes(Array(frame[..<cut]))), .close()] : [.send(.bytes(frame), connection: number)]
        }

        func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] { [] }
    }

    /// Runs a client until it logs a line that ends in `last`; returns its lines.
    private func client(_ hazards: Set<String>, cutAt cut: Int, until last: String) async throws -> [String] {
        let plain = try PeerSetup(ChatRelay.self, SimplePeers.options(timeScale: 0.1))
        let message = ChatMessage(text: "Hello", from: "CinentB")
        let frame = try plain.codec(from: .fromServer).encode(.messages([message.frame(from: .fromServer)]))
        let relay = CuttingRelay(setup: plain, frame: frame, cut: frame.count - cut)
        let (bound, continuation) = AsyncStream.makeStream(of: Endpoint.self)
        let server = Task {
            try await PeerRunner(relay, log: { _ in })
                .serve(at: PeerAddress(host: "127.0.0.1", port: 0), bound: { continuation.yield($0) })
        }
        defer { server.cancel() }
        let endpoint = try #require(await bound.first { _ in true })
        let said = SimplePeers.Lines()
        let options = SimplePeers.options(timeScale: 0.1, asPublished: hazards)
        let client = PeerRunner(
            ChatClient(try PeerSetup(ChatRelay.self, options), name: "CinentA"), of: PeerAddress(endpoint),
            log: { said.add($0) })
        try await client.connect()
        try await SimplePeers.eventually("the client says \(last)") { said.all.contains { $0.hasSuffix(last) } }
        try await client.end()
        server.cancel()
        try await server.value
        return said.all
    }

    @Test func thePublishedClientKeepsTheHead() async throws {
        let said = try await client(["stale-head"], cutAt: 2, until: "goes deaf")
        #expect(said.contains { $0.hasSuffix("goes deaf") }, "\(said)")
        #expect(!said.contains { $0.contains(" got txt") })
    }

    @Test func soItDoesNotWhereTheHeadItselfWasCut() async throws {
        let said = try await client(["stale-head"], cutAt: 8, until: "\"Hello\"")
        #expect(said.contains("CinentA got txt from CinentB, 5 B: \"Hello\""), "\(said)")
    }

    @Test func aClientThatIsRightForgetsIt() async throws {
        for hazards in [[], ["bad-head"]] as [Set<String>] {
            let said = try await client(hazards, cutAt: 2, until: "\"Hello\"")
            #expect(said.contains("CinentA got txt from CinentB, 5 B: \"Hello\""), "\(said)")
        }
    }
}
