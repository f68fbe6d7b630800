import Framing
import NIOCore
import Streams
import Testing

@testable import Peers

/// A relay that closes its first connection in the middle of a frame, and a client that reconnects.
@Suite struct StaleHeadTests {
    /// Sends a part of a frame on its first connection, and whole ones on the others.
    private struct CuttingRelay: ServerState {
        let frame: [UInt8]
        let cut: Int

        func opened(_ number: Int, by client: String, at time: Timestamp) -> [ServerAction] {
            number == 1
                ? [.send(.bytes(Array(frame[..<cut])), connection: 1), .close(connection: 1)]
                : [.send(.bytes(frame), connection: number)]
        }

        func received(_ input: PeerInput, on number: Int, at time: Timestamp) -> [ServerAction] { [] }
        func closed(_ number: Int, error: String?, at time: Timestamp) -> [ServerAction] { [] }
    }

    /// Runs a client until it logs a line that ends in `last`; returns its lines.
    private func client(_ hazards: Set<String>, cutAt cut: Int, until last: String) async throws -> [String] {
        let format = try SimplePeers.format("im-json")
        let message = ChatMessage(text: "Hello", from: "CinentB")
        let frame = try FrameCodec(format, sending: .fromServer).encode(.messages([message.frame(from: .fromServer)]))
        let options = SimplePeers.options(timeScale: 0.1, asPublished: hazards)
        let (bound, continuation) = AsyncStream.makeStream(of: Endpoint.self)
        let server = Task {
            try await PeerServer.run(
                CuttingRelay(frame: frame, cut: frame.count - cut), at: PeerAddress(host: "127.0.0.1", port: 0),
                options: options, bound: { continuation.yield($0) }, log: { _ in },
                codec: { FrameCodec(format, sending: .fromServer) })
        }
        defer { server.cancel() }
        let endpoint = try #require(await bound.first { _ in true })
        let said = SimplePeers.Lines()
        let client = ChatClient(
            "CinentA", of: format, server: PeerAddress(endpoint), options: options, log: { said.add($0) })
        try await client.start(within: SimplePeers.patience)
        try await SimplePeers.eventually("the client says \(last)") { said.all.contains { $0.hasSuffix(last) } }
        try await client.end().get()
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
