import Streams
import Systems
import Testing

@testable import Peers

/// A server that cannot listen says where.
@Suite struct ListeningTests {
    @Test func theAddressIsTaken() async throws {
        let (bound, continuation) = AsyncStream.makeStream(of: Endpoint.self)
        let first = Task {
            try await ChatRelay.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: SimplePeers.options(),
                bound: { continuation.yield($0) }, log: { _ in })
        }
        defer { first.cancel() }
        let address = PeerAddress(try #require(await bound.first { _ in true }))
        do {
            try await ChatRelay.serve(at: address, options: SimplePeers.options(), bound: { _ in }, log: { _ in })
            Issue.record("a second server listens there")
        } catch let error as PeerError {
            #expect(error.description == "cannot listen on \(address): Address already in use", "\(error)")
        }
        first.cancel()
        try await first.value
    }
}
