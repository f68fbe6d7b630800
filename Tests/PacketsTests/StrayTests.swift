import Packets
import Streams
import Testing

/// Segments that their receiver does not accept: they neither add bytes to a stream nor take any from it.
@Suite struct StrayTests {
    /// A connection with three bytes that were acknowledged.
    private static func established() -> Conversation {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.server(200, ack: 103)
        talk.advance(milliseconds: 1)
        return talk
    }

    @Test(
        arguments: [("junk", []), ("", .fin), ("junk", .fin)] as [(String, TCPFlags)],
        [2_000_000, 1_000_000_000] as [UInt32])
    func whatIsFarOutsideOfTheWindowIsDropped(_ stray: (String, TCPFlags), distance: UInt32) {
        var talk = Self.established()
        talk.client(103 + distance, stray.0, stray.1, ack: 200)
        talk.advance(milliseconds: 1)
        talk.client(103, "def", ack: 200)
        talk.server(200, ack: 106)
        talk.client(106, "", .fin, ack: 200)
        talk.server(200, "", .fin, ack: 107)
        #expect(talk.story == ["1 handshake", "c:abc", "c:def", "c.fin", "s.fin", "1 fin by client"])
        let strays = talk.notices(.fromClient).filter { if case .stray = $0 { true } else { false } }
        #expect(
            strays == (stray.0.isEmpty ? [] : [.stray(offset: 3 + Int(distance), byteCount: stray.0.utf8.count)]))
    }

    /// The FIN that ends the stream waits no longer than the acknowledgment of it.
    @Test func aStrayDoesNotHoldTheEndBack() {
        var talk = Self.established()
        talk.client(1_000_000_000, "junk", ack: 200)
        talk.advance(milliseconds: 1)
        talk.client(103, "def", .fin, ack: 200)
        talk.server(200, ack: 107)
        #expect(talk.story == ["1 handshake", "c:abc", "c:def", "c.fin"])
    }

    /// A capture that lost packets looks alike, except that the sender does not go back.
    @Test(arguments: [true, false]) func afterLostPacketsTheBytesAreInTheStream(isAcknowledged: Bool) {
        var talk = Self.established()
        talk.client(1_000_000_103, "far", ack: 200)
        talk.advance(milliseconds: 1)
        talk.client(1_000_000_106, "ther", ack: 200)
        if isAcknowledged { talk.server(200, ack: 1_000_000_110) }
        talk.advance(milliseconds: 1000)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "c-1000000000", "c:far", "c:ther", "1 end-of-input"])
    }

    /// Segments in the window may overtake others.
    @Test func whatOvertookIsNotDropped() {
        var talk = Self.established()
        talk.client(109, "jkl", ack: 200)
        talk.advance(milliseconds: 1)
        talk.client(103, "def", ack: 200)
        talk.server(200, ack: 106)
        talk.client(106, "ghi", ack: 200)
        #expect(talk.story == ["1 handshake", "c:abc", "c:def", "c:ghi", "c:jkl"])
    }

    @Test func anAcknowledgmentOfWhatWasNeverSentIsForgotten() {
        var talk = Self.established()
        talk.server(200, ack: 1_500_000_000)
        talk.client(103, "def", ack: 200)
        talk.server(200, ack: 106)
        talk.client(106, "", .rst, ack: 200)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "c:def", "c.reset", "1 reset by client"])
    }

    @Test func bytesThatExtendBeyondAFINShowThatItIsAStray() {
        var talk = Self.established()
        talk.client(107, "", .fin, ack: 200)
        talk.client(103, "defghi", ack: 200)
        talk.server(200, ack: 109)
        talk.client(109, "jkl", ack: 200)
        talk.server(200, "", .fin, ack: 112)
        talk.client(112, "", .fin, ack: 201)
        #expect(
            talk.story == ["1 handshake", "c:abc", "c:defghi", "c:jkl", "s.fin", "c.fin", "1 fin by server"])
    }

    @Test func anAcknowledgmentBeyondAFINShowsThatItIsAStray() {
        var talk = Self.established()
        talk.client(105, "", .fin, ack: 200)
        talk.server(200, ack: 120)
        talk.client(120, "more", ack: 200)
        talk.advance(milliseconds: 1000)
        #expect(talk.story == ["1 handshake", "c:abc", "c-17", "c:more"])
    }

    /// That of the FIN itself shows nothing.
    @Test func anAcknowledgmentOfAFINConfirmsIt() {
        var talk = Self.established()
        talk.client(105, "", .fin, ack: 200)
        talk.server(200, ack: 106)
        talk.advance(milliseconds: 1000)
        #expect(talk.story == ["1 handshake", "c:abc", "c-2", "c.fin"])
    }

    /// Of two FINs, that in the window counts.
    @Test func aFINInTheWindowReplacesOneOutsideOfIt() {
        var talk = Self.established()
        talk.client(1_000_000_000, "", .fin, ack: 200)
        talk.client(103, "", .fin, ack: 200)
        talk.server(200, "", .fin, ack: 104)
        #expect(talk.story == ["1 handshake", "c:abc", "c.fin", "s.fin", "1 fin by client"])
    }
}
