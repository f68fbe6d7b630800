import Packets
import Streams
import Testing

/// What comes after a connection between the same ends, or instead of it.
@Suite struct ReuseTests {
    /// The client restarted and reused its port; its SYN was not captured.
    @Test(arguments: [(900_000_000, 2_000_000_000), (4_000_000_000, 3_900_000_000)] as [(UInt32, UInt32)])
    func theAnswerToAnUncapturedSYNBeginsAnotherConnection(client: UInt32, server: UInt32) {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "one", ack: 200)
        talk.server(200, "two", ack: 103)
        talk.server(server &- 1, "", .syn, ack: client)
        talk.client(client, "three", ack: server)
        talk.server(server, "four", ack: client &+ 5)
        talk.finish()
        #expect(
            talk.story == [
                "1 handshake", "c:one", "s:two", "1 end-of-input", "2 handshake", "c:three", "s:four", "2 end-of-input",
            ])
    }

    /// One that acknowledges the connection's own SYN, or has its number, is no reason to give up the connection.
    @Test(arguments: [(2_999_999_999, 100), (199, 3_000_000_000)] as [(UInt32, UInt32)])
    func anAnswerThatIsHalfOfTheConnectionIsIgnored(number: UInt32, acknowledged: UInt32) {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "one", ack: 200)
        talk.server(200, "two", ack: 103)
        talk.server(number, "", .syn, ack: acknowledged)
        talk.client(103, "three", ack: 203)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:one", "s:two", "c:three", "1 end-of-input"])
    }

    /// A device that begins with a fixed number restarted, and connects from the same port: its SYN comes again, and the server
    /// answers it with another number. Without that answer, the SYN is a copy.
    @Test(arguments: [true, false]) func theAnswerToTheSameSYNBeginsAnotherConnection(isAnswered: Bool) {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "one", ack: 200)
        talk.server(200, "two", ack: 103)
        talk.advance(milliseconds: 5000)
        talk.client(99, "", .syn)
        if isAnswered {
            talk.server(1_999_999_999, "", .syn, ack: 100)
            talk.client(100, "three", ack: 2_000_000_000)
            talk.server(2_000_000_000, "four", ack: 105)
        } else {
            talk.client(103, "three", ack: 203)
            talk.server(203, "four", ack: 108)
        }
        talk.finish()
        let next = isAnswered ? ["1 end-of-input", "2 handshake"] : []
        #expect(
            talk.story == ["1 handshake", "c:one", "s:two"] + next
                + ["c:three", "s:four", "\(isAnswered ? 2 : 1) end-of-input"])
    }

    private static func closed(by end: TCPFlags) -> Conversation {
        var talk = Conversation()
        talk.handshake()
        if end == .fin {
            talk.client(100, "one", .fin, ack: 200)
            talk.server(200, "", .fin, ack: 104)
        } else {
            talk.client(100, "one", ack: 200)
            talk.client(103, "", .rst)
        }
        talk.advance(milliseconds: 60_000)
        return talk
    }

    /// Of the connection that follows, the handshake was not captured.
    @Test(arguments: [TCPFlags.fin, .rst]) func bytesWithOtherNumbersBeginAnotherConnection(end: TCPFlags) {
        var talk = Self.closed(by: end)
        talk.client(900_000_000, "two", ack: 2_000_000_000)
        talk.server(2_000_000_000, "three", ack: 900_000_003)
        talk.client(900_000_003, "four", ack: 2_000_000_005)
        talk.finish()
        #expect(talk.log.bytes(of: 1, from: .fromClient) == Array("one".utf8))
        #expect(talk.log.bytes(of: 2, from: .fromClient) == Array("twofour".utf8))
        #expect(talk.log.bytes(of: 2, from: .fromServer) == Array("three".utf8))
        #expect(talk.unreadSegments == 0)
    }

    /// Bytes with the connection's numbers open nothing: those that were never passed on are counted.
    @Test func bytesAfterTheEndAreCounted() {
        var talk = Self.closed(by: .fin)
        talk.client(100, "one", .fin, ack: 200)  // again
        talk.client(103, "\0", ack: 201)  // a keep-alive
        talk.client(104, ack: 201)
        #expect(talk.unreadSegments == 0)
        talk.client(104, "late", ack: 201)
        talk.server(201, "late", ack: 104)
        talk.client(102, "eX", ack: 201)
        talk.client(90, "older", ack: 190)
        #expect(talk.unreadSegments == 4)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:one", "c.fin", "s.fin", "1 fin by client"])
        talk = Self.closed(by: .rst)
        talk.server(200, "under way", ack: 103)
        #expect(talk.unreadSegments == 1)
    }

    /// A capture's counters have them, and those of its shares add up.
    @Test func bytesAfterTheEndAreSkippedPackets() {
        func add(_ sequence: UInt32, _ text: String, _ flags: TCPFlags, isClient: Bool, to file: inout PcapFile) {
            let segment = Headers.tcp(
                Array(text.utf8), from: isClient ? 40_000 : 80, to: isClient ? 80 : 40_000, sequence: sequence,
                acknowledgment: isClient ? 200 : 100, flags: flags)
            let (client, server) = (Headers.client, Headers.server)
            file.add(
                Headers.ethernet(
                    Headers.ipv4(segment, from: isClient ? client : server, to: isClient ? server : client)))
        }
        var file = PcapFile()
        add(99, "", .syn, isClient: true, to: &file)
        add(199, "", [.syn, .ack], isClient: false, to: &file)
        add(100, "", [.fin, .ack], isClient: true, to: &file)
        add(200, "", [.fin, .ack], isClient: false, to: &file)
        add(101, "late", .ack, isClient: true, to: &file)
        file.add(Headers.ethernet([], type: 0x0806))
        let counters = events(of: file.bytes).counters
        #expect(counters.skipped == [.closedConnection: 1, .arp: 1])
        for count in 1...4 {
            let shares = (0..<count).map { index in
                events(of: file.bytes, options: ReassemblyOptions().taking(CaptureShare(index, of: count))).counters
            }
            #expect(CaptureCounters.joined(shares) == counters)
        }
        var other = file
        other.add(Headers.ethernet([], type: 0x0806))
        #expect(CaptureCounters.joined([counters, events(of: other.bytes).counters]) == nil)
    }
}
