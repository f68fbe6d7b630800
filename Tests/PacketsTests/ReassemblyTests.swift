import Packets
import Streams
import Testing

@Suite struct ReassemblyTests {
    @Test func whatDiffersBeforeTheStartIsSettledHasItsPlaceInTheStream() {
        var talk = Conversation()
        talk.client(100, "Hello")
        talk.client(98, "abHE")
        talk.finish()
        let notices = talk.log.events.compactMap { event -> StreamNotice? in
            guard case .noticed(_, _, let notice, _, _) = event else { return nil }
            return notice
        }
        #expect(talk.log.bytes(of: 1, from: .fromClient) == Array("abHello".utf8))
        #expect(
            notices == [
                .retransmitted(offset: 2, byteCount: 2),
                .conflict(offset: 2, kept: Array("He".utf8), other: Array("HE".utf8)),
            ])
    }

    @Test func inOrderWithHandshakeAndFin() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "Hello", ack: 200)
        talk.server(200, "World", ack: 105)
        talk.client(105, "", .fin, ack: 205)
        talk.server(205, "bye", .fin, ack: 106)
        #expect(
            talk.story == [
                "1 handshake", "c:Hello", "s:World", "c.fin", "s:bye", "s.fin", "1 fin by client",
            ])
        // Late segments open nothing.
        talk.client(106, ack: 209)
        talk.server(205, "bye", .fin, ack: 106)
        talk.finish()
        #expect(talk.story.count == 7)
        #expect(
            talk.notices(.fromServer) == [
                .acknowledged(offset: 5)
            ])
    }

    @Test func outOfOrderKeepsPacketsAndNeverGoesBackInTime() {
        var talk = Conversation()
        talk.handshake()
        talk.time = 1
        talk.client(105, "fghij")
        talk.time = 2
        talk.client(103, "de")
        talk.time = 3
        talk.client(100, "abc")
        let received = talk.log.events.compactMap { event -> String? in
            guard case .received(_, _, let bytes, let time, let packet) = event else { return nil }
            return "\(String(decoding: bytes, as: UTF8.self)) \(time.nanoseconds / 1_000_000) \(packet)"
        }
        #expect(received == ["abc 3 6", "de 3 5", "fghij 3 4"])
    }

    @Test func retransmissionAndOverlap() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc")
        talk.client(100, "abc")
        talk.client(101, "bcde")
        talk.client(110, "kl")
        talk.client(103, "XXfghiYY")
        talk.finish()
        #expect(talk.log.bytes(of: 1, from: .fromClient) == Array("abcdefghiYkl".utf8).map { $0 })
        #expect(
            talk.notices(.fromClient) == [
                .retransmitted(offset: 0, byteCount: 3), .retransmitted(offset: 1, byteCount: 2),
                .retransmitted(offset: 3, byteCount: 2), .retransmitted(offset: 10, byteCount: 1),
                .conflict(offset: 10, kept: Array("k".utf8), other: Array("Y".utf8)),
            ])
    }

    @Test func whatIsFrequentIsReportedOnlyToThoseWhoWantIt() {
        var options = ReassemblyOptions()
        options.notices = false
        var talk = Conversation(options)
        talk.handshake()
        talk.client(102, "cd")
        talk.client(102, "XX")
        talk.client(100, "ab")
        talk.client(100, "ab")
        talk.server(200, ack: 104, window: 0)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:ab", "c:cd", "1 end-of-input"])
        #expect(
            talk.notices(.fromClient) == [
                .retransmitted(offset: 2, byteCount: 2),
                .conflict(offset: 2, kept: Array("cd".utf8), other: Array("XX".utf8)),
                .retransmitted(offset: 0, byteCount: 2),
            ])
        #expect(talk.notices(.fromServer) == [.windowClosed(true)], "not the acknowledgment")
    }

    @Test func conflictsWithWhatWasPassedOn() {
        var options = ReassemblyOptions()
        options.conflictHistory = 4
        var talk = Conversation(options)
        talk.handshake()
        talk.client(100, "abcdef")
        talk.client(106, "ghijkl")
        talk.client(102, "cXefgYij")
        talk.client(107, "hZj")
        // At least the last four bytes are kept: earlier ones are not compared.
        #expect(
            talk.notices(.fromClient) == [
                .retransmitted(offset: 2, byteCount: 8), .retransmitted(offset: 7, byteCount: 3),
                .conflict(offset: 8, kept: Array("i".utf8), other: Array("Z".utf8)),
            ])
    }

    /// However many bytes differ, and whatever is the same between them.
    @Test func aSegmentThatDiffersIsOneConflict() {
        var options = ReassemblyOptions()
        options.conflictHistory = 100
        var talk = Conversation(options)
        talk.handshake()
        talk.client(100, "abcdefgh")
        talk.client(100, "aXcXeXgh")
        #expect(
            talk.notices(.fromClient) == [
                .retransmitted(offset: 0, byteCount: 8),
                .conflict(offset: 1, kept: Array("bcdef".utf8), other: Array("XcXeX".utf8)),
            ])
    }

    @Test(arguments: [(OverlapPolicy.first, "abcdefg"), (.last, "abXXefg")])
    func overlapPolicy(policy: OverlapPolicy, expected: String) {
        var options = ReassemblyOptions()
        options.overlap = policy
        var talk = Conversation(options)
        talk.handshake()
        talk.client(102, "cd")
        talk.client(102, "XXefg")
        talk.client(100, "ab")
        talk.finish()
        #expect(talk.log.bytes(of: 1, from: .fromClient) == Array(expected.utf8))
    }

    @Test func sequenceNumbersWrap() {
        var talk = Conversation()
        talk.client(.max - 2, "", .syn)
        talk.client(1, "cdef")
        talk.client(.max - 1, "ab")
        talk.client(5, "gh", .fin)
        #expect(talk.story == ["1 handshake", "c:ab"])
        talk.client(0, "?")
        #expect(talk.story == ["1 handshake", "c:ab", "c:?", "c:cdef", "c:gh", "c.fin"])
    }

    @Test func gapsAreGivenUpOnceAcknowledged() {
        var talk = Conversation()
        talk.handshake()
        talk.client(105, "fgh")
        talk.advance(milliseconds: 5000)
        #expect(talk.story == ["1 handshake"])  // not acknowledged: it may still come
        talk.server(200, ack: 105)
        talk.advance(milliseconds: 999)
        #expect(talk.story == ["1 handshake"])
        talk.advance(milliseconds: 1)
        #expect(talk.story == ["1 handshake", "c-5", "c:fgh"])
        #expect(
            talk.log.events.contains(
                .missing(connection: 1, from: .fromClient, byteCount: 5, time: Timestamp(nanoseconds: 0))))
        talk.client(100, "abcde")  // too late
        talk.client(108, "ijk")
        #expect(talk.story.last == "c:ijk")
    }

    @Test func gapsAreGivenUpAfterSoManyPackets() {
        var talk = Conversation()
        talk.handshake()
        talk.client(105, "fgh")
        talk.server(200, ack: 108)
        for _ in 0..<99 { talk.server(200, ack: 108) }
        #expect(talk.story == ["1 handshake"])
        talk.server(200, ack: 108)
        #expect(talk.story == ["1 handshake", "c-5", "c:fgh"])
    }

    @Test func gapsAreGivenUpAtTheLimit() {
        var options = ReassemblyOptions()
        options.reorderingLimit = 10
        var talk = Conversation(options)
        talk.handshake()
        talk.client(105, "12345")
        talk.client(115, "67890")
        #expect(talk.story == ["1 handshake"])
        talk.client(125, "x")
        #expect(talk.story == ["1 handshake", "c-5", "c:12345"])
    }

    @Test func whatTheNumberOfAFINShowsIsMissing() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc")
        talk.client(110, "", .fin)
        talk.server(200, ack: 111)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "c-7", "c.fin", "1 end-of-input"])
    }

    @Test func pickedUpInTheMiddle() {
        var talk = Conversation()
        talk.server(500, "HTTP", ack: 900)
        talk.client(900, "next", ack: 504)
        talk.server(504, "more", ack: 904)
        talk.finish()
        #expect(talk.story == ["1 guessed", "c:next", "s:HTTP", "s:more", "1 end-of-input"])
    }

    /// Even if it was acknowledged before: a capture may have packets in a different order than they were sent.
    @Test func startIsSettledByTimeOrPackets() {
        var talk = Conversation()
        talk.server(504, "more")
        talk.client(900, ack: 508)
        talk.server(500, "some")
        talk.advance(milliseconds: 999)
        #expect(talk.story == ["1 guessed"])
        talk.advance(milliseconds: 1)
        #expect(talk.story == ["1 guessed", "s:some", "s:more"])
        talk = Conversation()
        talk.server(504, "more")
        for _ in 0..<99 { talk.client(900, ack: 508) }
        #expect(talk.story == ["1 guessed"])
        talk.client(900, ack: 508)
        #expect(talk.story == ["1 guessed", "s:more"])
    }

    @Test func whoIsTheClient() {
        func opening(_ source: UInt16, _ destination: UInt16, _ flags: TCPFlags) -> Opening? {
            let log = StreamEventLog()
            var options = ReassemblyOptions()
            options.serverPorts = [8088]
            var reassembler = TCPReassembler(options: options, receiver: log)
            let segment = TCPSegment(
                source: Endpoint(IPAddress(v4: 1), source), destination: Endpoint(IPAddress(v4: 2), destination),
                sequence: 1, flags: flags, payloadLength: 1)
            reassembler.receive(segment, payload: [UInt8(1)].span.bytes, at: Timestamp(nanoseconds: 0), packet: 1)
            guard case .opened(let opening) = log.events.first else { return nil }
            return opening
        }
        #expect(opening(80, 9000, .syn)?.client.port == 80)
        #expect(opening(80, 9000, .syn)?.clientGuessed == false)
        #expect(opening(9000, 9001, [.syn, .ack])?.client.port == 9001)
        #expect(opening(9000, 9001, [.syn, .ack])?.handshake == true, "it has both numbers")
        #expect(opening(9000, 9001, .ack)?.handshake == false)
        #expect(opening(9000, 9001, .ack)?.client.port == 9001)
        #expect(opening(9000, 80, .ack)?.client.port == 9000)
        #expect(opening(80, 9000, .ack)?.client.port == 9000)
        #expect(opening(80, 8088, .ack)?.client.port == 80)
        #expect(opening(80, 8088, .ack)?.clientGuessed == true)
        #expect(opening(9000, 80, .rst) == nil)
    }

    @Test func synWithDataAndSimultaneousOpen() {
        var talk = Conversation()
        talk.client(99, "early", .syn)
        talk.server(199, "", .syn)
        talk.server(199, "", .syn, ack: 100)
        talk.client(99, "", .syn, ack: 200)
        talk.client(100, "earlydata", ack: 200)
        talk.server(200, "hi", ack: 109)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:early", "c:data", "s:hi", "1 end-of-input"])
    }

    @Test func synOvertakenByDataAndAnswer() {
        var talk = Conversation()
        talk.client(100, "abc")
        talk.client(99, "", .syn)
        #expect(talk.story == ["1 guessed", "c:abc"])
        talk = Conversation()
        talk.server(199, "", .syn, ack: 100)
        talk.client(99, "", .syn)
        talk.client(103, "d")
        talk.client(100, "abc")
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "c:d", "1 end-of-input"])
    }

    /// The SYN was not captured, or is recorded after its answer, which has both numbers.
    @Test(arguments: [false, true]) func theAnswerToASYNSettlesBothStarts(_ hasSYN: Bool) {
        var talk = Conversation()
        talk.server(199, "", .syn, ack: 100)
        if hasSYN { talk.client(99, "", .syn) }
        talk.server(200, "hello", ack: 100)
        talk.client(105, "fgh", ack: 205)
        talk.client(100, "abcde", ack: 205)
        #expect(
            talk.story == ["1 handshake", "s:hello", "c:abcde", "c:fgh"], "nothing waits for a start to be settled")
        talk.client(108, "ijk", ack: 205)
        talk.finish()
        #expect(talk.story.suffix(2) == ["c:ijk", "1 end-of-input"])
    }

    /// Data that a client sends with its SYN (RFC 7413) is acknowledged by an answer that is recorded first.
    @Test func aSYNThatBringsBytesMayComeAfterItsAnswer() {
        var talk = Conversation()
        talk.server(199, "", .syn, ack: 105)
        talk.client(99, "early", .syn)
        talk.client(105, "more", ack: 200)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:early", "c:more", "1 end-of-input"])
    }

    @Test func portReuse() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "one", .fin)
        talk.server(200, "", .fin, ack: 104)
        talk.client(999, "", .syn)
        talk.client(999, "", .syn)
        talk.client(1000, "two")
        talk.client(5999, "", .syn)  // without an end
        talk.server(8999, "", .syn, ack: 6000)
        talk.server(9000, "three")
        talk.finish()
        #expect(
            talk.story == [
                "1 handshake", "c:one", "c.fin", "s.fin", "1 fin by client", "2 handshake", "c:two", "2 end-of-input",
                "3 handshake", "s:three", "3 end-of-input",
            ])
    }

    @Test func keepAliveAndZeroWindow() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.client(102, "\0", ack: 200)
        talk.client(102, "", ack: 200)
        talk.server(200, ack: 103, window: 0)
        talk.client(103, "d", ack: 200)  // probe: not taken
        talk.server(200, ack: 103, window: 0)
        talk.client(103, "d", ack: 200)
        talk.server(200, ack: 104, window: 500)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "c:d", "1 end-of-input"])
        #expect(talk.notices(.fromClient).isEmpty)  // one byte before the next looks like a keep-alive
        #expect(
            talk.notices(.fromServer) == [
                .acknowledged(offset: 3), .windowClosed(true), .acknowledged(offset: 4), .windowClosed(false),
            ])
    }

    @Test func resetIsReportedOnceWhatWasUnderWayCameIn() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.client(103, "", .rst)
        talk.server(200, "under way", ack: 103)
        talk.client(103, "", .rst)
        talk.advance(milliseconds: 1000)
        #expect(talk.story == ["1 handshake", "c:abc", "s:under way", "c.reset", "1 reset by client"])
        talk.server(209, "late", ack: 103)
        talk.finish()
        #expect(talk.story.count == 5)
    }

    @Test func whatAResetSaysIsPartOfTheStream() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.client(103, "go away", .rst)
        talk.advance(milliseconds: 1000)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "c:go away", "c.reset", "1 reset by client"])
    }

    @Test func resetThatItsSenderKnowsNothingOf() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.client(103, "", .rst)
        talk.client(100, "abc", ack: 200)  // overtaken by the RST, or not: it shows nothing
        talk.client(103, "def", ack: 200)
        talk.advance(milliseconds: 3000)
        talk.client(106, "", .rst)
        talk.advance(milliseconds: 1000)
        talk.client(100, "abc", ack: 200)
        talk.client(106, "ghi", ack: 200)
        talk.finish()
        #expect(
            talk.story == [
                "1 handshake", "c:abc", "c:def", "c.reset", "1 reset by client", "2 guessed", "c:ghi", "2 end-of-input",
            ])
    }

    @Test func resetsOutOfTheWindowAreIgnored() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        talk.server(90_000, "", .rst)
        talk.server(150, "", .rst)
        talk.advance(milliseconds: 2000)
        talk.server(200, "def", ack: 103)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:abc", "s:def", "1 end-of-input"])
    }

    /// The sender may be a window ahead of a gap that is still awaited.
    @Test func aResetAfterMoreThanAWindowOfHeldBytesCounts() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "abc", ack: 200)
        let bytes = [UInt8](repeating: 0x61, count: 60_000)
        talk.send(.fromClient, 104, bytes)
        talk.server(200, ack: 104, window: 0)
        talk.send(.fromClient, 60_104, bytes)
        talk.client(120_104, "", .rst)
        talk.advance(milliseconds: 1000)
        #expect(talk.story.last == "1 reset by client")
        #expect(talk.log.bytes(of: 1, from: .fromClient).count == 120_003)
    }

    @Test func refusedConnection() {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(0, "", .rst, ack: 100)
        talk.finish()
        #expect(talk.story == ["1 handshake", "1 connect-failed by server"])
    }

    /// Bytes that a refused SYN carried (RFC 7413) change nothing.
    @Test func refusedConnectionWhoseSYNBroughtBytes() {
        var talk = Conversation()
        talk.client(99, "early", .syn)
        talk.server(0, "", .rst, ack: 105)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:early", "1 connect-failed by server"])
    }

    /// The client acknowledged a SYN of the server that was not captured.
    @Test func aConnectionWhoseAnswerWasNotCapturedIsReset() {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.client(100, ack: 200)
        talk.client(100, "request", ack: 200)
        talk.server(200, ack: 107)
        talk.server(200, "", .rst, ack: 107)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:request", "s.reset", "1 reset by server"])
    }

    @Test func dataAfterFinIsNoData() {
        var talk = Conversation()
        talk.handshake()
        talk.client(103, "def")
        talk.client(106, "", .fin)
        talk.client(106, "more")
        talk.client(100, "abc")
        talk.client(107, "more")
        #expect(talk.story == ["1 handshake", "c:abc", "c:def", "c.fin"])
    }

    @Test func manyHeldSegmentsInReverse() {
        var talk = Conversation()
        talk.handshake()
        let count = 20_000
        for index in stride(from: count - 1, through: 0, by: -1) {
            talk.send(.fromClient, UInt32(100 + index * 2), [UInt8(index & 255), UInt8(index >> 8)])
        }
        let bytes = talk.log.bytes(of: 1, from: .fromClient)
        var expected: [UInt8] = []
        for index in 0..<count { expected += [UInt8(index & 255), UInt8(index >> 8)] }
        #expect(bytes == expected)
    }

    @Test func closedConnectionsAreForgotten() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "", .fin)
        talk.server(200, "", .fin)
        talk.advance(milliseconds: 119_000)
        talk.client(100, "late")
        #expect(talk.story.count == 4)
        talk.advance(milliseconds: 2_000)
        talk.client(100, "another")
        talk.finish()
        #expect(Array(talk.story.dropFirst(4)) == ["2 guessed", "c:another", "2 end-of-input"])
    }
}
