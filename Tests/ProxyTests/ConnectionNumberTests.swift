import Dispatch
import Foundation
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
                _ = queue.reserve { number in
                    queue.open(number, client: Endpoint(IPAddress(v4: 0x0a00_0002), UInt16(number)), server: server)
                }
            }
        }
        let openings = openings(in: queue)
        #expect(openings.map(\.number) == Array(1...2_000))
        #expect(openings.map { Int($0.client.port) } == Array(1...2_000))
    }

    /// A client that is refused meanwhile gets the next number.
    @Test func refusedClientsAreNumberedAfterOthers() {
        let (queue, server) = (RecordingQueue(), server)
        let refused = DispatchSemaphore(value: 0)
        queue.reserve { number in
            Thread.detachNewThread {
                queue.refuse(client: server, server: server, reason: .refusedByLimit, detail: "")
                refused.signal()
            }
            Thread.sleep(forTimeInterval: 0.02)
            queue.open(number, client: server, server: server)
        }
        refused.wait()
        let kinds = queue.take(until: nil).events.map { event in
            switch event {
            case .opened(let opening): "opened \(opening.number)"
            case .refused(let opening, _, _, _): "refused \(opening.number)"
            default: "?"
            }
        }
        #expect(kinds == ["opened 1", "refused 2"])
    }
}
