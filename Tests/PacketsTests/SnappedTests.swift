import Packets
import Streams
import Testing

/// A capture that kept the first 128 bytes of each packet (docs/captures.md, "What the snapshot length cut off").
@Suite struct SnappedTests {
    /// Linux cooked capture, then a segment of 1,376 bytes of which 60 are there; or an acknowledgment alone.
    static func packet(
        _ from: Direction, sequence: UInt32, acknowledgment: UInt32, payload: [UInt8]
    ) -> (bytes: [UInt8], original: Int) {
        let (source, destination) = from == .fromClient ? (60_478, 6_000) : (6_000, 60_478)
        let tcp = Headers.tcp(
            payload, from: source, to: destination, sequence: sequence, acknowledgment: acknowledgment,
            options: [1, 1, 8, 10] + big(0, 8))
        let addresses = from == .fromClient ? (Headers.client, Headers.server) : (Headers.server, Headers.client)
        let whole =
            big(4, 2) + big(1, 2) + big(6, 2) + big(0, 8) + big(0x0800, 2)
            + Headers.ipv4(tcp, from: addresses.0, to: addresses.1)
        return (Array(whole.prefix(128)), whole.count)
    }

    /// The two sides of a cut are never joined: the receiver has all bytes (the acknowledgments say so), but a reader of the
    /// capture does not.
    @Test func whatWasCutOffIsMissing() {
        let payloads = (0..<3).map { index in (0..<1376).map { UInt8(truncatingIfNeeded: $0 &* (index + 3)) } }
        var file = PcapFile(linkType: 113, snapLength: 128)
        for (index, payload) in payloads.enumerated() {
            let sequence = 2_169_653_817 + UInt32(index) * 1376
            let data = Self.packet(.fromClient, sequence: sequence, acknowledgment: 45_782_072, payload: payload)
            let answer = Self.packet(.fromServer, sequence: 45_782_072, acknowledgment: sequence + 1376, payload: [])
            #expect(data.bytes.count == 128 && data.original == 1444)
            file.add(data.bytes, at: index * 10_000, original: data.original)
            file.add(answer.bytes, at: index * 10_000 + 5_000, original: answer.original)
        }
        let (log, _) = events(of: file.bytes)
        let story = log.events.compactMap { event -> [UInt8]? in
            switch event {
            case .received(_, .fromClient, let bytes, _, _): bytes
            case .missing(_, .fromClient, let count, _): big(count, 4)
            default: nil
            }
        }
        // After the last byte that was seen, nothing is counted.
        let gap = big(1376 - 60, 4)
        let pieces = payloads.map { Array($0.prefix(60)) }
        #expect(story == [pieces[0], gap, pieces[1], gap, pieces[2]])
    }

    /// Only the headers were kept, and the SYN was not captured; a segment may be recorded before the SYN-ACK.
    @Test(arguments: [false, true]) func whatOvertakesTheAnswerToASYNIsMissing(overtakes: Bool) {
        var talk = Conversation()
        if overtakes { talk.send(.fromClient, 101, [], ack: 200, length: 10) }
        talk.server(199, "", .syn, ack: 101)
        if !overtakes { talk.send(.fromClient, 101, [], ack: 200, length: 10) }
        talk.send(.fromClient, 111, [], ack: 200, length: 20)
        talk.server(200, ack: 131)
        talk.client(131, "", .fin, ack: 200)
        talk.server(200, "", .fin, ack: 132)
        talk.client(132, ack: 201)
        talk.finish()
        let missing = talk.log.events.reduce(0) { sum, event in
            if case .missing(_, .fromClient, let count, _) = event { sum + count } else { sum }
        }
        #expect(missing == 30 && talk.story.count { $0.contains("fin by") } == 1, "\(talk.story)")
    }

    /// The SYN is overtaken by a segment of which only the header was kept: there is one connection.
    @Test func aSYNMayBeOvertakenByAHeader() {
        var talk = Conversation()
        talk.send(.fromClient, 100, [], ack: 200, length: 10)
        talk.client(99, "", .syn)
        talk.server(199, "", .syn, ack: 100)
        talk.client(110, "k", ack: 200)
        talk.finish()
        #expect(talk.log.bytes(of: 1, from: .fromClient) == Array("k".utf8), "\(talk.story)")
        #expect(talk.story.contains("c-10"), "\(talk.story)")
    }

    /// Only the headers were kept (`tcpdump -s 54`). The numbers wrap around, acknowledgments lag behind, and the FIN is no byte.
    @Test(arguments: [1, 3, 14, 20, 40]) func headersAloneShowHowMuchWasSent(segments: Int) {
        let length = 1 << 27
        var talk = Conversation()
        talk.handshake()
        var sequence: UInt32 = 100
        for _ in 0..<segments {
            talk.send(.fromClient, sequence, [], ack: 200, length: length)
            talk.server(200, ack: sequence)
            sequence &+= UInt32(length)
        }
        talk.client(sequence, "", .fin, ack: 200)
        talk.server(200, "", .fin, ack: sequence &+ 1)
        talk.client(sequence &+ 1, ack: 201)
        talk.finish()
        let missing = talk.log.events.reduce(0) { sum, event in
            if case .missing(_, .fromClient, let count, _) = event { sum + count } else { sum }
        }
        #expect(missing == segments * length)
        #expect(talk.story.suffix(2) == ["c.fin", "1 fin by client"], "\(talk.story)")
    }
}
