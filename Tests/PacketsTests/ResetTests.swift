import Packets
import Streams
import Testing

/// Resets that do not end the connection: while it is set up, and forged ones.
@Suite struct ResetTests {
    /// The server still has an old connection between the same ends (RFC 9293 section 3.5.1): it answers the SYN with an
    /// acknowledgment, for which it gets a RST, and the SYN comes again.
    @Test(arguments: [50, 40_000, 90_000, 3_000_000_000] as [UInt32])
    func aHalfOpenConnectionIsLeftBehind(acknowledged: UInt32) {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(5_000, ack: acknowledged)
        talk.client(acknowledged, "", .rst)
        talk.client(99, "", .syn)
        talk.server(199, "", .syn, ack: 100)
        talk.client(100, "abc", ack: 200)
        talk.advance(milliseconds: 1000)
        talk.server(200, "def", ack: 103)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "s:def", "1 end-of-input"])
        #expect(talk.notices(.fromServer) == [.acknowledged(offset: 3)])
    }

    /// A RST answers the server's answer to an older SYN (RFC 9293 section 3.5, figure 9).
    @Test func anAnswerToAnOlderSYNAcknowledgesNothing() {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(4_999, "", .syn, ack: 90)
        talk.client(90, "", .rst)
        talk.server(199, "", .syn, ack: 100)
        talk.client(100, "abc", ack: 200)
        talk.server(200, "def", ack: 103)
        talk.advance(milliseconds: 1000)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "s:def", "1 end-of-input"])
    }

    @Test func whoIsRefusedMayTryAgain() {
        var talk = Conversation()
        for _ in 0..<2 {
            talk.client(99, "", .syn)
            talk.server(0, "", .rst, ack: 100)
            talk.advance(milliseconds: 500)
        }
        talk.client(99, "", .syn)
        talk.server(199, "", .syn, ack: 100)
        talk.client(100, "abc", ack: 200)
        talk.advance(milliseconds: 3000)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "1 end-of-input"])
    }

    /// Once the end was reported, the same SYN begins another connection.
    @Test(arguments: [false, true]) func aLaterAttemptIsAnotherConnection(isRefused: Bool) {
        var talk = Conversation()
        talk.client(99, "", .syn)
        if isRefused {
            talk.server(0, "", .rst, ack: 100)
        } else {
            talk.server(5_000, ack: 40_000)
            talk.client(40_000, "", .rst)
        }
        talk.advance(milliseconds: 2000)
        talk.client(99, "", .syn)
        talk.server(199, "", .syn, ack: 100)
        talk.client(100, "abc", ack: 200)
        talk.finish()
        let end = isRefused ? ["1 connect-failed by server"] : ["c.reset", "1 reset by client"]
        #expect(talk.story == ["1 handshake"] + end + ["2 handshake", "c:abc", "2 end-of-input"])
    }

    /// What the old connection still sent is not part of the new one, whether or not the RST lies in the window of the new one,
    /// and whether or not it was captured.
    @Test(arguments: [40_000, 90_000, 3_000_000_000] as [UInt32], [false, true])
    func bytesOfTheOldConnectionStayWithIt(acknowledged: UInt32, hasRST: Bool) {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(5_000, "old", ack: acknowledged)
        if hasRST { talk.client(acknowledged, "", .rst) }
        talk.client(99, "", .syn)
        talk.server(199, "", .syn, ack: 100)
        talk.client(100, "abc", ack: 200)
        talk.server(200, "def", ack: 103)
        talk.finish()
        let end = hasRST && acknowledged == 40_000 ? ["c.reset", "1 reset by client"] : ["1 end-of-input"]
        #expect(
            talk.story == ["1 handshake", "s:old"] + end + ["2 handshake", "c:abc", "s:def", "2 end-of-input"])
    }

    /// Bytes that overtake the server's SYN-ACK acknowledge the client's SYN: then a copy of that is no new attempt.
    @Test func bytesThatAcknowledgeTheSYNAreOfItsConnection() {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(200, "hello", ack: 100)
        talk.client(99, "", .syn)
        talk.server(199, "", .syn, ack: 100)
        talk.client(100, "abc", ack: 205)
        talk.finish()
        #expect(talk.story == ["1 handshake", "s:hello", "c:abc", "1 end-of-input"])
    }

    /// A copy of the SYN of a connection that was established does not take back its RST.
    @Test func aCopyOfTheSYNChangesNothing() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "", .rst)
        talk.client(99, "", .syn)
        talk.advance(milliseconds: 2000)
        talk.client(99, "", .syn)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c.reset", "1 reset by client"])
    }

    /// The server only listens: it acknowledges what the client sent after the RST that is said to be the server's.
    @Test func anAcknowledgmentDisprovesAReset() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.server(200, "", .rst)
        talk.client(103, "def", ack: 200)
        talk.server(200, ack: 106)
        talk.advance(milliseconds: 3000)
        talk.client(106, "ghi", ack: 200)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "c:def", "c:ghi", "1 end-of-input"])
    }

    /// An acknowledgment of what had been sent before the RST may have been on its way; bytes after a gap and a FIN count.
    @Test(arguments: [false, true]) func anAcknowledgmentOfWhatWasSentBeforeShowsNothing(hasEnd: Bool) {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.client(105, "fgh", hasEnd ? .fin : [], ack: 200)
        talk.server(200, "", .rst)
        talk.server(200, ack: 103)
        talk.server(200, ack: hasEnd ? 109 : 108)
        talk.advance(milliseconds: 2000)
        talk.finish()
        #expect(talk.story.suffix(2) == ["s.reset", "1 reset by server"], "\(talk.story)")
        #expect(talk.log.bytes(of: 1, from: .fromClient) == Array("abcfgh".utf8))
    }

    /// The client has nothing after the server's bytes, so it does not accept the RST (RFC 5961 section 3.2).
    @Test(arguments: [203, 204, 210] as [UInt32], [0, 2000]) func aChallengeACKDisprovesAnInexactReset(
        number: UInt32, milliseconds: Int
    ) {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.server(200, "def", ack: 103)
        talk.client(103, ack: 203)
        talk.server(number, "", .rst, ack: 103)
        // It comes before the end is reported, or after it.
        talk.advance(milliseconds: milliseconds)
        talk.client(103, ack: 203)
        talk.advance(milliseconds: 2000)
        let isInexact = number == 210
        if isInexact { talk.client(103, "ghi", ack: 203) }
        talk.finish()
        let reset = isInexact && milliseconds == 0 ? [] : ["s.reset", "1 reset by server"]
        let rest = isInexact ? (reset.isEmpty ? [] : ["2 guessed"]) + ["c:ghi"] : []
        let end = isInexact ? ["\(reset.isEmpty ? 1 : 2) end-of-input"] : []
        #expect(talk.story == ["1 handshake", "c:abc", "s:def"] + reset + rest + end)
    }

    /// A first acknowledgment may have been in flight when the RST was sent: bytes between may not have been captured.
    @Test func anAcknowledgmentInFlightDisprovesNoReset() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.server(200, "def", ack: 103)
        talk.server(210, "", .rst, ack: 103)
        talk.client(103, ack: 203)
        talk.advance(milliseconds: 2000)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "s:def", "s.reset", "1 reset by server"])
    }

    /// Once the end was reported, the connection goes on as another.
    @Test func anAcknowledgmentAfterTheEndShowsThatItGoesOn() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.server(200, ack: 103)
        talk.server(200, "", .rst)
        talk.advance(milliseconds: 2000)
        talk.client(103, "def", ack: 200)
        talk.server(200, ack: 106)
        talk.client(106, "ghi", ack: 200)
        talk.finish()
        #expect(
            talk.story == [
                "1 handshake", "c:abc", "s.reset", "1 reset by server", "2 guessed", "c:ghi", "2 end-of-input",
            ])
    }
}
