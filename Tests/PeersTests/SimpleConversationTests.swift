import Framing
import Streams
import Systems
import Testing

@testable import Peers

/// Real sockets on loopback, at a small time scale.
@Suite struct SimpleConversationTests {
    static let peers: [any ReferencePeer.Type] = [TextHeartbeat.self, MessageIDs.self, Uploads.self, Lines.self]

    @Test(arguments: peers.map { $0.format })
    func theConversationSucceedsAndTheServerEndsInOrder(_ name: String) async throws {
        let peer = try #require(ReferencePeers.peer(for: name))
        var options = SimplePeers.patientOptions(timeScale: 0.05)
        options.rounds = 2
        let scaled = options
        let lines = try await SimplePeers.serving(peer, options) { server in
            try await peer.converse(with: server, options: scaled, log: { _ in })
        }
        #expect(lines.contains { $0.hasPrefix("#1 connected from 127.0.0.1:") })
        #expect(!lines.contains { $0.contains("without frame") })
    }

    @Test(arguments: peers.map { $0.format })
    func theDemonstrationSucceeds(_ name: String) async throws {
        let peer = try #require(ReferencePeers.peer(for: name))
        let scaled = SimplePeers.patientOptions(timeScale: 0.05)
        let said = SimplePeers.Lines()
        let lines = try await SimplePeers.serving(peer, scaled) { server in
            try await peer.demonstrate(to: server, options: scaled, log: { said.add($0) })
        }
        #expect(!lines.contains { $0.contains("without frame") })
        let left = (said.all + lines).filter {
            $0.contains("leaves out a heartbeat") || $0.contains("gets no heartbeat")
        }
        #expect(left.count == (peer is TextHeartbeat.Type || peer is MessageIDs.Type ? 3 : 0))
    }

    @Test(arguments: peers.map { $0.format })
    func aCancelledConversationEndsAtOnce(_ name: String) async throws {
        let peer = try #require(ReferencePeers.peer(for: name))
        var long = SimplePeers.options(timeScale: 100)
        long.rounds = 1_000
        let options = long
        let said = SimplePeers.Lines()
        _ = try await SimplePeers.serving(peer, options) { server in
            let conversation = Task {
                try await peer.converse(with: server, options: options, log: { said.add($0) })
            }
            try await SimplePeers.eventually("the client says something") { !said.all.isEmpty }
            conversation.cancel()
            await #expect(throws: CancellationError.self) { try await conversation.value }
        }
    }

    @Test(arguments: peers.map { $0.format })
    func aServerThatIsNotThereIsSaid(_ name: String) async throws {
        let peer = try #require(ReferencePeers.peer(for: name))
        let closed = try ClosedPort()
        var options = SimplePeers.patientOptions(timeScale: 0.01)
        // A client that connects repeatedly would be waited for in vain.
        options.leastWait = .seconds(5)
        let scaled = options
        let error = await #expect(throws: PeerError.self) {
            try await peer.converse(
                with: PeerAddress(host: "127.0.0.1", port: closed.number), options: scaled, log: { _ in })
        }
        #expect(error?.description.contains("Connection refused") == true)
        withExtendedLifetime(closed) {}
    }

    @Test(arguments: peers.map { $0.format })
    func hazardsAreThoseOfTheFormatAndNoOthers(_ name: String) async throws {
        let peer = try #require(ReferencePeers.peer(for: name))
        let hazards: [String: Set<String>] = [
            "text-heartbeat": TextHeartbeat.hazards, "len16-id": MessageIDs.hazards, "tlv32": Uploads.hazards,
            "line": Lines.hazards,
        ]
        #expect(hazards[name] == Set(try SimplePeers.format(name).hazards.map(\.name)))
        await #expect(throws: PeerError.self) {
            try await peer.converse(
                with: PeerAddress(host: "127.0.0.1", port: 1),
                options: SimplePeers.options(asPublished: ["zero-size-body"]), log: { _ in })
        }
    }

    /// The hazards that the conversation itself triggers.
    @Test(arguments: [
        ("text-heartbeat", "cut-character"), ("len16-id", "double-append"), ("tlv32", "merged-frames"),
        ("tlv32", "short-first-read"), ("tlv32", "kept-buffer"), ("tlv32", "always-failure"), ("line", "per-read"),
    ])
    func theConversationFailsAtAPublishedServer(_ name: String, _ hazard: String) async throws {
        let peer = try #require(ReferencePeers.peer(for: name))
        var scaled = SimplePeers.patientOptions(timeScale: 0.05)
        // These two fail if a read ends in the middle.
        let readSizes = ["double-append": 12, "short-first-read": 4]
        scaled.readSize = readSizes[hazard]
        if scaled.readSize != nil {
            let options = scaled
            _ = try await SimplePeers.serving(peer, options) { server in
                try await peer.converse(with: server, options: options, log: { _ in })
            }
        }
        var published = scaled
        published.asPublished = [hazard]
        scaled.leastWait = PeerOptions().leastWait
        let options = scaled
        _ = try await SimplePeers.serving(peer, published) { server in
            await #expect(throws: PeerError.self) {
                try await peer.converse(with: server, options: options, log: { _ in })
            }
        }
    }

    @Test func thePublishedUploaderDropsASecondResponseInOneRead() async throws {
        let published = SimplePeers.options(timeScale: 0.05, asPublished: ["merged-responses"])
        let lines = try await SimplePeers.serving(Uploads.self, SimplePeers.patientOptions(timeScale: 0.05)) { server in
            await #expect(throws: PeerError.self) {
                try await Uploads.converse(with: server, options: published, log: { _ in })
            }
        }
        #expect(lines.filter { $0.hasSuffix(", stored") }.count == 6, "the server did its part")
    }
}
