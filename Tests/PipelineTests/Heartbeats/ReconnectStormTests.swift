import Packets
import Streams
import TestSupport
import Testing
import Trace

@Suite struct ReconnectStormTests {
    /// Connections one after the other; each lives for 100 ms, then the next follows after a pause of this many milliseconds.
    private func storms(
        _ connections: Int, pause: (Int) -> Int, endedBy direction: Direction = .fromServer,
        _ flags: TCPFlags = [.fin, .ack], overlapping: Bool = false
    ) throws -> [TraceLine] {
        var capture = try MadeCapture()
        let size = capture.heartbeat.count
        var time = 0
        for number in 0..<connections {
            capture.port = UInt16(40_000 + number)
            capture.handshake(at: time)
            capture.send(capture.heartbeat, at: time + 10)
            time += 100
            if !overlapping {
                let isClient = direction == .fromClient
                capture.send(
                    direction, at: time, position: isClient ? size : 0, flags, acknowledging: isClient ? 0 : size)
                if flags.contains(.fin) {
                    capture.send(
                        direction.opposite, at: time, position: isClient ? 0 : size, flags,
                        acknowledging: isClient ? size + 1 : 1)
                }
            }
            time += pause(number)
        }
        return try capture.finish(.reconnectStorm)
    }

    @Test(arguments: [TCPFlags([.fin, .ack]), TCPFlags([.rst, .ack])])
    func aClientThatConnectsAgainAtOnceIsOne(flags: TCPFlags) throws {
        let found = try storms(12, pause: { _ in 50 }, flags)
        #expect(found.map { $0[number: "connection"] } == [6], "told once, by the fifth reconnect")
        #expect(
            found.first?["message"]
                == "reconnect storm: 10.0.0.1 reconnected to 10.0.0.2:8088 5 times in 600 ms, each time immediately")
        #expect(try storms(5, pause: { _ in 50 }, flags).isEmpty, "four reconnects are none")
    }

    @Test func aClientThatWaitsLongerAndLongerIsNone() throws {
        #expect(try storms(12, pause: { 500 << min($0, 6) }).isEmpty)
        #expect(try storms(12, pause: { _ in 50 }, endedBy: .fromClient).isEmpty, "it closed them itself")
        #expect(try storms(12, pause: { _ in 50 }, overlapping: true).isEmpty, "none of them was lost")
    }

    @Test func afterAPauseThereMayBeAnother() throws {
        let found = try storms(24, pause: { $0 == 11 ? 120_000 : 50 })
        #expect(found.map { $0[number: "connection"] } == [6, 18])
    }
}
