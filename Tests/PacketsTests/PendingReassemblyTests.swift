import Packets
import Streams
import TestSupport
import Testing

/// How many deadlines reassembly has pending, and which connections its stale entries would close.
@Suite struct PendingReassemblyTests {
    /// A sender whose RSTs are invalid: each is disproved by its next segment. The capture's clock stands still.
    @Test func resetsThatAreDisprovedDoNotAddUp() {
        var talk = Conversation()
        talk.handshake()
        talk.server(200, ack: 100)
        let before = talk.pendingDeadlines
        for index in UInt32(0)..<5_000 {
            talk.client(100 + index, "", .rst)
            talk.client(100 + index, "a", ack: 200)
        }
        #expect(talk.pendingDeadlines <= before + 1)
        // A valid one is accepted, a grace period after its own time and not after the first one's.
        talk.advance(milliseconds: 900)
        talk.client(5_100, "", .rst)
        talk.advance(milliseconds: 900)
        #expect(talk.story.last == "c:a", "its grace is not over")
        talk.advance(milliseconds: 1_100)
        #expect(talk.story.last == "1 reset by client")
    }

    /// Gaps that are filled, over and over. The capture's clock stands still.
    @Test func gapsThatAreFilledDoNotAddUp() {
        var talk = Conversation()
        talk.handshake()
        talk.server(200, ack: 100)
        for index in UInt32(0)..<10_000 {
            talk.client(101 + 2 * index, "b", ack: 200)
            talk.server(200, ack: 102 + 2 * index)
            talk.client(100 + 2 * index, "a", ack: 200)
        }
        #expect(talk.pendingDeadlines < 5_000)
        // One that is not filled is still declared missing in time.
        talk.client(20_101, "z", ack: 200)
        talk.server(200, ack: 20_102)
        talk.advance(milliseconds: 10_000)
        #expect(talk.story.suffix(2) == ["c-1", "c:z"])
    }

    /// Connections between the same ends that are refused, one after the other.
    @Test func refusedConnectionsDoNotAddUp() {
        var talk = Conversation()
        for index in UInt32(0)..<10_000 {
            talk.client(1_000_000 &* index, "", .syn)
            talk.server(0, "", .rst, ack: 1_000_000 &* index &+ 1)
        }
        #expect(talk.pendingDeadlines < 20_000)
        talk.advance(milliseconds: 10_000)
        #expect(talk.story.last == "10000 connect-failed by server")
    }

    /// Connections that end while the capture's clock stands still: no more of them are remembered than may be.
    @Test func closedConnectionsDoNotAddUpWhereTimeStandsStill() {
        var options = ReassemblyOptions()
        options.closedLimit = 10
        var reassembler = TCPReassembler(options: options, receiver: StreamEventLog())
        func send(_ port: UInt16, _ sequence: UInt32, _ flags: TCPFlags, fromClient: Bool, count: Int = 0) {
            let (client, server) = (Endpoint(IPAddress(v4: 1), port), Endpoint(IPAddress(v4: 2), 80))
            let segment = TCPSegment(
                source: fromClient ? client : server, destination: fromClient ? server : client, sequence: sequence,
                acknowledgment: fromClient ? 200 : 100, flags: flags, payloadLength: count)
            let payload = [UInt8](repeating: 7, count: count)
            let time = Timestamp(nanoseconds: 0)
            reassembler.advance(to: time)
            reassembler.receive(segment, payload: payload.span.bytes, at: time, packet: 1)
        }
        for port in UInt16(1)...10_000 {
            send(port, 99, .syn, fromClient: true)
            send(port, 199, [.syn, .ack], fromClient: false)
            send(port, 100, [.fin, .ack], fromClient: true)
            send(port, 200, [.fin, .ack], fromClient: false)
        }
        let pending = reassembler.pendingDeadlines
        #expect(pending <= 4_200)
        // The last is remembered, and the first is not: what comes late opens another connection.
        send(10_000, 101, .ack, fromClient: true, count: 1)
        let remembered = reassembler.connectionCount
        #expect(remembered == 10_000)
        send(1, 101, .ack, fromClient: true, count: 1)
        let forgotten = reassembler.connectionCount
        #expect(forgotten == 10_001)
    }

    /// Connections that become idle, send, and become idle again: only those that are idle now count.
    @Test func connectionsThatAreIdleAgainAndAgainCountOnce() {
        var options = ReassemblyOptions()
        options.idleTimeout = .seconds(1)
        options.idleLimit = 10
        var talk = Conversation(options)
        talk.handshake()
        for index in UInt32(0)..<300 {
            talk.advance(milliseconds: 1_500)
            talk.client(100 + index, "a", ack: 200)
        }
        talk.advance(milliseconds: 1_500)
        #expect(!talk.story.contains { $0.contains("timeout") }, "one connection is idle, ten may be")
        #expect(talk.pendingDeadlines <= 4_200)
        talk.client(400, "b", ack: 200)
        talk.finish()
        #expect(talk.story.suffix(2) == ["c:b", "1 end-of-input"])
    }
}
