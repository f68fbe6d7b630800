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
