import Foundation
import Framing
import Peers
import Pipeline
import Replay
import Streams
import Synchronization
import Systems
import TestSupport
import Testing
import Trace
import TraceDiff
import TraceTesting

/// Every fixture is replayed against the peers from which it was recorded.
@Suite struct EveryFixtureTests {
    static let fixtures: [(format: String, name: String)] = [
        ("fixed", "conversation"), ("im-json", "chat"), ("im-magic", "conversation"), ("json-envelope", "conversation"),
        ("len16-id", "conversation"), ("line", "conversation"), ("marker", "conversation"),
        ("text-heartbeat", "conversation"), ("tlv32", "conversation"),
    ]

    /// Values that the peers of a format change each time: the time.
    private func rules(_ name: String) throws -> TraceRules {
        let yaml =
            switch name {
            case "marker": "mask:\n  - { path: body.text, pattern: '\\d+:\\d+:\\d+\\.\\d+' }\n"
            case "len16-id": "mask:\n  - { type: chat, path: body.protobuf.4 }\n"
            default: "# nothing\n"
            }
        return try RulesYAML.rules(in: yaml, file: name)
    }

    /// The recorded conversation.
    private func peerOptions(_ name: String) -> PeerOptions {
        var options = PeerOptions()
        if name == "im-json" { options.rounds = 10 }
        // On a busy machine an answer may take its time.
        options.leastWait = .seconds(40)
        return options
    }

    private func recording(_ name: String, _ file: String) throws -> (Recording, Format) {
        var format = try #require(try BuiltInFormats.format(named: name))
        // Masked values cannot be sent again.
        format.secrets = []
        let path = URL(filePath: #filePath).appending(path: "../../../fixtures/\(name)/\(file).pcap").standardized
        let trace = try DecodedCapture([UInt8](Data(contentsOf: path)), options: .init(.fixed(format)), bodyLimit: .max)
        var reader = TraceReader()
        try reader.begin(path.path)
        try reader.read(Array(trace.ndjson.utf8).span.bytes)
        return (try Recording(try reader.finish(), format: name, rules: rules(name)), format)
    }

    @Test(arguments: fixtures) func theRecordedServerSatisfiesTheRealClients(name: String, file: String) async throws {
        let (recording, format) = try recording(name, file)
        let peer = try #require(ReferencePeers.peer(for: name))
        let reported = Mutex<[String]>([])
        var options = ReplayOptions(format) { line in reported.withLock { $0.append(line) } }
        options.isFast = true
        let (bound, announce) = AsyncStream.makeStream(of: Int.self)
        let serving = Task { [options] in
            try await ReplayServer.serve(recording, host: "127.0.0.1", port: 0, options) { announce.yield($1) }
        }
        var ports = bound.makeAsyncIterator()
        let port = try #require(await ports.next())
        try await peer.converse(
            with: PeerAddress(host: "127.0.0.1", port: port), options: peerOptions(name), log: { _ in })
        serving.cancel()
        #expect(try await serving.value == 0)
        #expect(reported.withLock { $0 } == [])
    }

    @Test(arguments: fixtures) func theRealServerAnswersTheRecordedClients(name: String, file: String) async throws {
        let (recording, format) = try recording(name, file)
        let peer = try #require(ReferencePeers.peer(for: name))
        let (bound, announce) = AsyncStream.makeStream(of: Endpoint.self)
        let serving = Task {
            // Clients may have to wait for this machine.
            var options = PeerOptions()
            options.leastTolerance = .seconds(40)
            try await peer.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: options, bound: { announce.yield($0) },
                log: { _ in })
        }
        defer { serving.cancel() }
        var addresses = bound.makeAsyncIterator()
        let server = try #require(await addresses.next())
        let actual = try await ReplayClient.play(
            recording, host: "127.0.0.1", port: Int(server.port), ReplayOptions(format, log: { _ in }))
        var comparison = Comparison()
        comparison.rules = try rules(name)
        comparison.rules.ignored = [TraceRules.Place(path: try #require(FieldPath("closed.by")))]
        let difference = ReplayComparison.compare(recording, actual, comparison)
        #expect(difference.isEmpty, "\(DiffText.of(difference))")
    }
}
