import Dispatch
import NIOCore
import Streams
import Synchronization
import Testing

@testable import Proxy

/// The number that a connection's stages know is its number in the trace.
@Suite struct ConnectionNumberTests {
    private let server = Endpoint(IPAddress(v4: 0x0a00_0001), 9_000)

    private func openings(in queue: RecordingQueue) -> [Opening] {
        queue.take(until: nil).events.compactMap { event in
            if case .opened(let opening) = event { opening } else { nil }
        }
    }

    /// Event loops open connections at once; the port says which number the stages of each one got.
    @Test func eventLoopsAgreeWithTheTrace() {
        let queue = RecordingQueue()
        let server = server
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<500 {
                queue.reserve { number in
                    queue.open(number, client: Endpoint(IPAddress(v4: 0x0a00_0002), UInt16(number)), server: server)
                }
            }
        }
        let openings = openings(in: queue)
        #expect(openings.map(\.number) == Array(1...2_000))
        #expect(openings.map { Int($0.client.port) } == Array(1...2_000))
    }
}
