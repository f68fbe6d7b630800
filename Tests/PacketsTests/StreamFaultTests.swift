import Packets
import Streams
import Testing

/// Bytes that the capture contains and the streams do not.
@Suite struct StreamFaultTests {
    private func quiet(_ change: (inout ReassemblyOptions) -> Void = { _ in }) -> ReassemblyOptions {
        var options = ReassemblyOptions()
        options.notices = false
        change(&options)
        return options
    }

    /// The notices for the client, except for plain retransmissions.
    private func faults(of talk: borrowing Conversation) -> [StreamNotice] {
        talk.notices(.fromClient).filter { if case .retransmitted = $0 { false } else { true } }
    }

    @Test func whatComesAfterItsGapWasGivenUpIsLateOnce() {
        var talk = Conversation(quiet())
        talk.handshake()
        talk.client(110, "klm")
        talk.server(200, ack: 113)
        talk.advance(milliseconds: 1000)
        #expect(talk.story == ["1 handshake", "c-10", "c:klm"])
        talk.client(104, "efg")
        talk.client(102, "cdefghijkl")
        talk.client(100, "abcdefghijklmn")
        talk.client(100, "abcdefghijklmn")
        #expect(
            faults(of: talk) == [
                .late(offset: 4, bytes: Array("efg".utf8)), .late(offset: 2, bytes: Array("cd".utf8)),
                .late(offset: 7, bytes: Array("hij".utf8)), .late(offset: 0, bytes: Array("ab".utf8)),
            ])
        #expect(talk.story.last == "c:n")
    }

    @Test func whatIsBeforeAStreamPickedUpInTheMiddleIsLate() {
        var talk = Conversation(quiet())
        talk.client(105, "fgh")
        talk.advance(milliseconds: 1000)
        talk.client(103, "defghi")
        talk.client(99, "", .syn)
        #expect(faults(of: talk) == [.late(offset: -2, bytes: Array("de".utf8))])
        #expect(talk.log.bytes(of: 1, from: .fromClient) == Array("fghi".utf8))
    }

    /// It is of an older connection between the same ends; but a byte at the SYN's number is a keep-alive, even captured twice.
    @Test func whatIsBeforeASYNIsLate() {
        var talk = Conversation(quiet())
        talk.handshake()
        talk.client(99, "\0")
        talk.client(100, "abc")
        talk.server(200, ack: 103)
        talk.client(99, "\0")
        #expect(faults(of: talk).isEmpty)
        talk.client(95, "old")
        #expect(faults(of: talk) == [.late(offset: -5, bytes: Array("old".utf8))])
        #expect(talk.story == ["1 handshake", "c:abc"])
    }

    /// A second copy of a keep-alive, behind newer bytes: whoever has a byte acknowledged does not send it again with others.
    @Test func aKeepAliveThatIsCapturedTwiceIsNoConflict() {
        var talk = Conversation(quiet { $0.conflictHistory = 100 })
        talk.handshake()
        talk.client(100, "hello")
        talk.server(200, ack: 105)
        talk.client(104, "\0")
        talk.client(105, "world")
        talk.client(104, "\0")
        #expect(faults(of: talk).isEmpty)
        talk.client(107, "X")  // not acknowledged
        talk.client(103, "XX")  // more than one byte
        #expect(
            faults(of: talk) == [
                .conflict(offset: 7, kept: Array("r".utf8), other: Array("X".utf8)),
                .conflict(offset: 3, kept: Array("lo".utf8), other: Array("XX".utf8)),
            ])
    }

    @Test func dataAfterTheFINIsReportedAndKeepAlivesAreNot() {
        var talk = Conversation(quiet())
        talk.handshake()
        talk.client(100, "abc", .fin)
        talk.client(103, "\0")  // a keep-alive in half-closed state: the number before the next
        talk.client(103, "more")
        talk.client(102, "cde")
        talk.server(200, "", .fin)
        talk.client(104, "after all")
        #expect(
            faults(of: talk) == [
                .afterEnd(offset: 3, byteCount: 4), .afterEnd(offset: 3, byteCount: 2),
            ])
        #expect(talk.story == ["1 handshake", "c:abc", "c.fin", "s.fin", "1 fin by client"])
    }

    @Test func dataAfterAFINThatWaitsIsReported() {
        var talk = Conversation(quiet())
        talk.handshake()
        talk.client(103, "def", .fin)
        talk.client(105, "fgh")
        talk.client(100, "abc")
        #expect(faults(of: talk) == [.afterEnd(offset: 6, byteCount: 2)])
        #expect(talk.story == ["1 handshake", "c:abc", "c:def", "c.fin"])
    }

    @Test func whatComesAgainAfterTheEndIsComparedWithWhatIsKept() {
        var talk = Conversation(quiet { $0.conflictHistory = 100 })
        talk.handshake()
        talk.client(100, "abc", .fin)
        talk.client(100, "aXc")
        #expect(
            faults(of: talk) == [.conflict(offset: 1, kept: Array("b".utf8), other: Array("X".utf8))])
    }

    /// A SYN near the numbers of a stream that was picked up mid-stream belongs to another connection, if that stream had ended
    /// or was acknowledged further.
    @Test func aSYNThatNothingCanHaveOvertaken() {
        for end in [TCPFlags.fin, .rst] {
            var talk = Conversation()
            talk.client(110, "one")
            talk.client(113, "", end)
            talk.client(99, "", .syn)
            talk.client(100, "two")
            talk.finish()
            #expect(talk.log.bytes(of: 2, from: .fromClient) == Array("two".utf8))
        }
        var talk = Conversation()
        talk.client(110, "one")
        talk.server(200, ack: 113)
        talk.client(99, "", .syn)
        talk.finish()
        #expect(talk.story == ["1 guessed", "c:one", "1 end-of-input", "2 handshake", "2 end-of-input"])
        // Nor does a SYN follow an answer that does not answer a SYN.
        talk = Conversation()
        talk.server(200, "one", ack: 110)
        talk.client(99, "", .syn)
        talk.finish()
        #expect(talk.story == ["1 guessed", "s:one", "1 end-of-input", "2 handshake", "2 end-of-input"])
    }

    /// However many gaps there are, the memory for them is bounded; the first are forgotten.
    @Test func ofManyGapsTheLastAreRemembered() {
        var talk = Conversation(quiet())
        talk.handshake()
        for index in 0..<200 { talk.client(UInt32(101 + 2 * index), "x") }
        talk.server(200, ack: 500)
        talk.advance(milliseconds: 1000)
        for index in 0..<200 { talk.client(UInt32(100 + 2 * index), "y") }
        let offsets = faults(of: talk).map { notice -> Int in
            if case .late(let offset, _) = notice { offset } else { -1 }
        }
        #expect(offsets == (136..<200).map { 2 * $0 })
    }
}
