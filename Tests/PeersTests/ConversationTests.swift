import Framing
import Streams
import Systems
import Testing

@testable import Peers

/// Real sockets on loopback, at a small time scale.
@Suite struct ConversationTests {
    private typealias Lines = SimplePeers.Lines

    /// Runs a script against a server on a port of its own, and returns the server's lines.
    private func serving(
        _ options: PeerOptions, lines: Lines = Lines(),
        _ script: @escaping @Sendable (PeerAddress) async throws -> Void
    ) async throws -> [String] {
        let (bound, continuation) = AsyncStream.makeStream(of: Endpoint.self)
        let server = Task {
            try await ChatRelay.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: options, bound: { continuation.yield($0) },
                log: { lines.add($0) })
        }
        defer { server.cancel() }
        let endpoint = try #require(await bound.first { _ in true })
        #expect(endpoint.port != 0)
        try await script(PeerAddress(endpoint))
        server.cancel()
        try await server.value
        return lines.all
    }

    private func options(timeScale: Double) -> PeerOptions {
        SimplePeers.patientOptions(timeScale: timeScale)
    }

    private func client(
        _ name: String, of server: PeerAddress, _ options: PeerOptions, _ said: Lines, expected: [ChatMessage] = []
    ) throws -> PeerRunner<ChatClient> {
        var client = ChatClient(try PeerSetup(ChatRelay.self, options), name: name)
        client.expected = ChatExpectation(expected)
        return PeerRunner(client, of: server, log: { said.add($0) })
    }

    @Test func theConversationArrivesAndTheServerEndsInOrder() async throws {
        var options = options(timeScale: 0.05)
        options.rounds = 3
        let scaled = options
        let lines = try await serving(options) { server in
            try await ChatRelay.converse(with: server, options: scaled, log: { _ in })
        }
        #expect(lines.filter { $0.contains("img CinentA → CinentB") }.count == 3)
        #expect(lines.contains { $0.contains("img CinentA → CinentB, 200000 B: JPEG") })
        #expect(lines.filter { $0.contains("Anyone there?") }.count == 1)
        #expect(lines.filter { $0.contains("left") }.count == 2)
        #expect(!lines.contains { $0.contains("without frame") })
    }

    @Test func theDemonstrationArrives() async throws {
        let scaled = options(timeScale: 0.1)
        let said = Lines()
        let lines = try await serving(scaled) { server in
            try await ChatRelay.demonstrate(to: server, options: scaled, log: { said.add($0) })
        }
        #expect(said.all.filter { $0 == "CinentB leaves out a heartbeat" }.count == 3)
        #expect(said.all.filter { $0.contains("got img") }.count == 2)
        #expect(!lines.contains { $0.contains("without frame") })
    }

    @Test func theSilentAreDisconnectedAndConnectAgain() async throws {
        var options = options(timeScale: 0.01)
        options.leastTolerance = .seconds(0)
        let scaled = options
        let said = Lines()
        let lines = try await serving(scaled) { server in
            let client = try client("CinentA", of: server, scaled, said)
            try await client.connect()
            try await client.tell { client, _ in
                client.heartbeatsToSkip = .max
                return []
            }
            // Silent for more than 0.2 s at a sweep every 0.3 s.
            try await SimplePeers.eventually("the client connects again") {
                said.all.filter { $0 == "CinentA connected" }.count >= 2
            }
            try await client.end()
        }
        #expect(lines.contains { $0.hasPrefix("#1 (CinentA) evicted: silent for ") })
        #expect(lines.contains { $0.hasPrefix("#2 connected from 127.0.0.1:") })
        #expect(said.all.contains("CinentA the server closed the connection; connects again in 0.0025 s"))
    }

    @Test func whatWasStoredIsDelivered() async throws {
        var options = options(timeScale: 0.1)
        options.storeOffline = true
        let scaled = options
        _ = try await serving(options) { server in
            let a = try client("CinentA", of: server, scaled, Lines())
            let message = ChatMessage(text: "later", from: "CinentA", to: "CinentB")
            // What is stored may arrive as soon as it has connected.
            let b = try client("CinentB", of: server, scaled, Lines(), expected: [message])
            try await a.connect()
            try await a.tell { client, _ in client.send([message]) }
            try await b.connect()
            try await b.wait(for: "the message", within: SimplePeers.patience) { client, _ in
                client.expected.isFulfilled
            }
            try await a.end()
            try await b.end()
        }
    }

    @Test func aCancelledConversationEndsAtOnce() async throws {
        let long = options(timeScale: 100)
        let lines = Lines()
        _ = try await serving(long, lines: lines) { server in
            let conversation = Task { try await ChatRelay.converse(with: server, options: long, log: { _ in }) }
            try await SimplePeers.eventually("both clients are connected") {
                lines.all.filter { $0.contains("connected from") }.count == 2
            }
            conversation.cancel()
            await #expect(throws: CancellationError.self) { try await conversation.value }
            try await SimplePeers.eventually("both clients leave") {
                lines.all.filter { $0.hasSuffix("left") }.count == 2
            }
        }
    }

    @Test func aServerThatIsNotThereIsSaid() async throws {
        let scaled = options(timeScale: 0.01)
        let closed = try ClosedPort()
        let client = try client("CinentA", of: PeerAddress(host: "127.0.0.1", port: closed.number), scaled, Lines())
        let error = await #expect(throws: PeerError.self) { try await client.connect() }
        #expect(error?.description == "CinentA could not connect to 127.0.0.1:\(closed.number): Connection refused")
        try await client.end()
    }

    @Test func optionsOutOfRangeAreRefused() async {
        var hazard = PeerOptions()
        hazard.asPublished = ["split-frame"]
        var rounds = PeerOptions()
        rounds.rounds = 0
        for options in [hazard, rounds, options(timeScale: 0)] {
            await #expect(throws: PeerError.self) {
                try await ChatRelay.converse(
                    with: PeerAddress(host: "127.0.0.1", port: 1), options: options, log: { _ in })
            }
        }
    }

    @Test func everyPeerSpeaksAFormatOfItsOwn() {
        #expect(ReferencePeers.peer(for: "im-json") != nil)
        #expect(ReferencePeers.peer(for: "none") == nil)
        #expect(Set(ReferencePeers.all.map { $0.format }).count == ReferencePeers.all.count)
    }
}
