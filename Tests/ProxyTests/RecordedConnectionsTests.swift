import Streams
import TestSupport
import Testing

@testable import Proxy

@Suite struct RecordedConnectionsTests {
    private typealias Handle = RecordingQueue.Handle

    /// Connections come and go in any order, and places are used again: a table by number says the same.
    @Test func aHandleFindsItsConnectionOnly() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var connections = RecordedConnections()
        var expected: [Handle: UInt16] = [:]
        var (over, most): ([Handle], Int) = ([], 0)
        for number in 1...3_000 {
            let port = UInt16.random(in: 1...UInt16.max, using: &generator)
            let client = Endpoint(IPAddress(v4: 0x7f00_0001), port)
            var recorded = RecordingQueue.Recorded(client: client, server: client, tls: nil, leg: nil)
            if Bool.random(using: &generator) { recorded.number = ConnectionLeg(number) }
            let handle = connections.add(Bool.random(using: &generator) ? number : -number, recorded)
            #expect(expected.updateValue(port, forKey: handle) == nil, "seed \(seed)")
            most = max(most, expected.count)
            #expect(handle.place < most, "free places are used first, seed \(seed)")
            #expect(connections.traceNumber(handle) == recorded.number, "seed \(seed)")
            while Int.random(in: 0..<2, using: &generator) == 0, let gone = expected.keys.min() {
                connections[gone] = nil
                expected[gone] = nil
                over.append(gone)
            }
            if let changed = expected.keys.max(), Bool.random(using: &generator) {
                connections[changed]?.isIncomplete = true
                #expect(connections[changed]?.isIncomplete == true, "seed \(seed)")
            }
        }
        for (handle, port) in expected {
            #expect(connections[handle]?.client.port == port, "seed \(seed)")
        }
        for handle in over {
            connections[handle]?.isIncomplete = true
            connections[handle] = nil
            #expect(connections[handle] == nil && connections.traceNumber(handle) == nil, "seed \(seed)")
        }
        let free = connections.add(
            3_001,
            RecordingQueue.Recorded(
                client: .init(IPAddress(v4: 1), 1), server: .init(IPAddress(v4: 2), 2), tls: nil, leg: nil))
        #expect(!expected.keys.contains { $0.place == free.place }, "a place is freed once, seed \(seed)")
    }
}
