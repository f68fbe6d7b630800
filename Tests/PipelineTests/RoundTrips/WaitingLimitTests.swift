import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// How many requests are remembered, over all connections.
@Suite struct WaitingLimitTests {
    private let loopback = IPAddress(v4: 0x7f00_0001)

    /// Lines of a type and an id, each asked by the client and answered by the server.
    private func decoder(
        _ monitor: RoundTripMonitor, _ output: MemoryOutput? = nil, within: String = ""
    ) throws -> Decoder {
        let format = try FormatLoader.load(
            """
            format: asking
            framing: { rule: fixed, size: 2 }
            header: [{ kind: { type: char } }, { id: { type: char } }]
            frame: { type: kind }
            pairs: [{ request: from == client, from: client, answer: from == server, by: order\(within) }]
            """, file: "asking")
        return Decoder(
            DecodingOptions(.fixed(format)), analyses: [monitor],
            sinks: output.map { [NDJSONWriter(to: $0, source: "tests", tool: "tests")] } ?? [])
    }

    private func open(_ decoder: Decoder, _ number: Int) -> any ConnectionReceiver {
        decoder.open(
            Opening(
                number: number, time: Timestamp(nanoseconds: 0), client: Endpoint(loopback, UInt16(number)),
                server: Endpoint(loopback, 9_000), handshake: true))
    }

    private func send(
        _ count: Int, _ connection: any ConnectionReceiver, _ direction: Direction = .fromClient,
        at time: Timestamp = Timestamp(nanoseconds: 0)
    ) {
        let lines = [UInt8](repeating: UInt8(ascii: "a"), count: 2 * count)
        connection.received(lines.span.bytes, from: direction, at: time, packet: 0)
    }

    private func close(_ connection: any ConnectionReceiver) {
        connection.closed(Closing(reason: .fin, by: .fromClient, time: Timestamp(nanoseconds: 1_000)))
    }

    /// Whoever asks a lot when much waits already is no longer judged; whoever asks little is.
    @Test func whatWaitsOnAllConnectionsIsLimited() throws {
        let monitor = RoundTripMonitor(mostWaiting: 1_000)
        let output = MemoryOutput()
        let decoder = try decoder(monitor, output)
        let connections = (1...60).map { open(decoder, $0) }
        var most = 0
        for connection in connections[..<30] {
            send(100, connection)
            most = max(most, monitor.remembered.waiting)
        }
        for connection in connections[30...] {
            send(2, connection)
            most = max(most, monitor.remembered.waiting)
        }
        #expect(most == 1_060 && monitor.remembered.waiting == 1_060)
        for connection in connections { close(connection) }
        decoder.finish()
        #expect(monitor.remembered == (connections: 0, waiting: 0))
        let found = try traceLines(output.text).filter { $0["kind"] == "unanswered" }
        let judged = Set(found.map(\.connection))
        #expect(judged == Set(1...10).union(31...60), "\(judged.sorted())")
    }

    /// What is overdue is forgotten before anything that still may be answered.
    @Test func whatIsOverdueIsForgottenFirst() throws {
        var times = 0
        let monitor = RoundTripMonitor(mostWaiting: 100) { _ in times += 1 }
        let decoder = try decoder(monitor, within: ", within: 1 s")
        let connection = open(decoder, 1)
        send(90, connection)
        let later = Timestamp(seconds: 10, nanoseconds: 0)
        decoder.advance(to: later)
        #expect(monitor.remembered.waiting == 90)
        send(20, connection, at: later)
        #expect(monitor.remembered.waiting == 20)
        send(20, connection, .fromServer, at: later)
        #expect(times == 20)
        close(connection)
        decoder.finish()
    }

    /// A connection on which nothing waits takes no memory, but for a few that are likely to go on.
    @Test func answeredConnectionsAreNotRemembered() throws {
        var times = 0
        let monitor = RoundTripMonitor { _ in times += 1 }
        let decoder = try decoder(monitor)
        let connections = (1...5_000).map { open(decoder, $0) }
        for _ in 0..<2 {
            for connection in connections {
                send(1, connection)
                send(1, connection, .fromServer)
            }
            #expect(monitor.remembered.connections <= 256 && monitor.remembered.waiting == 0)
        }
        #expect(times == 10_000)
        // One that waits is remembered, whatever others do.
        send(1, connections[0])
        for connection in connections[1...] {
            send(1, connection)
            send(1, connection, .fromServer)
        }
        send(1, connections[0], .fromServer)
        #expect(times == 15_000 && monitor.remembered.waiting == 0)
        for connection in connections { close(connection) }
        decoder.finish()
        #expect(monitor.remembered.connections == 0)
    }
}
