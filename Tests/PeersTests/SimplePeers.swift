import Framing
import Streams
import Synchronization
import Systems
import Testing

@testable import Peers

/// Shared by the tests of the simple peers.
enum SimplePeers {
    /// Options with a scale, or with hazards.
    static func options(timeScale: Double = 1, asPublished: Set<String> = []) -> PeerOptions {
        var options = PeerOptions()
        options.timeScale = timeScale
        options.asPublished = asPublished
        return options
    }

    /// Options for conversations over sockets: late arrivals are not what the test is about.
    static func patientOptions(timeScale: Double) -> PeerOptions {
        var options = options(timeScale: timeScale)
        (options.leastWait, options.leastTolerance, options.leastPause) = (patience, patience, .seconds(1))
        return options
    }

    /// The maximum time for anything; only a failure takes that long.
    static let patience: Interval = .seconds(40)

    /// Waits until a condition holds.
    static func eventually(_ what: String, _ holds: () -> Bool) async throws {
        let start = Timestamp.now
        while !holds() {
            guard Timestamp.now - start < patience else { throw PeerError("waited in vain: \(what)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    static func format(_ name: String) throws -> Format {
        try #require(try BuiltInFormats.format(named: name))
    }

    /// Lines that tasks log.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// Runs a script against a server on a port of its own, and returns the server's lines.
    static func serving(
        _ peer: any ReferencePeer.Type, _ options: PeerOptions,
        _ script: @escaping @Sendable (PeerAddress) async throws -> Void
    ) async throws -> [String] {
        let lines = Lines()
        let (bound, continuation) = AsyncStream.makeStream(of: Endpoint.self)
        let server = Task {
            try await peer.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: options, bound: { continuation.yield($0) },
                log: { lines.add($0) })
        }
        defer { server.cancel() }
        let endpoint = try #require(await bound.first { _ in true })
        try await script(PeerAddress(endpoint))
        server.cancel()
        try await server.value
        return lines.all
    }
}
