import Packets
import Streams
import TestSupport
import Testing

/// Bytes at the end of a stream that were not captured: the number of a FIN or an acknowledgment reveals them.
@Suite struct UncapturedEndTests {
    @Test(arguments: [true, false]) func theNumberOfAFINShowsThem(isAcknowledged: Bool) {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "Hello!", ack: 200)
        if isAcknowledged { talk.server(200, ack: 112) }
        talk.client(112, "", .fin, ack: 200)
        talk.server(200, "", .fin, ack: isAcknowledged ? 113 : nil)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:Hello!", "s.fin", "c-6", "c.fin", "1 fin by client"])
    }

    @Test func noneAreMissingWhereAllWereCaptured() {
        var talk = Conversation()
        talk.handshake()
        // The FIN overtakes the bytes before it.
        talk.client(105, "", .fin, ack: 200)
        talk.client(100, "Hello", ack: 200)
        talk.server(200, "", .fin, ack: 106)
        #expect(talk.story == ["1 handshake", "c:Hello", "c.fin", "s.fin", "1 fin by client"])
    }

    @Test(arguments: [TCPFlags.rst, []]) func anAcknowledgmentShowsThemWhereThereIsNoFIN(_ end: TCPFlags) {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "Hello", ack: 200)
        talk.server(200, ack: 125)
        if end == .rst { talk.client(125, "", .rst, ack: 200) }
        talk.finish()
        let rest = end == .rst ? ["c.reset", "1 reset by client"] : ["1 endOfInput"]
        #expect(talk.story.prefix(3) == ["1 handshake", "c:Hello", "c-20"], "\(talk.story)")
        #expect(talk.story.count == 3 + rest.count, "\(talk.story)")
    }

    /// Of the handshake only the SYN was captured, and not the request either: its acknowledgments, the highest of them, show it
    /// once the server's stream begins without a SYN, or at the end.
    @Test(arguments: ["", "Hi"]) func anAcknowledgmentCountsWhereTheSYNACKWasNotCaptured(_ answer: String) {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(500, answer, ack: 150)
        if !answer.isEmpty { talk.server(502, "", .fin, ack: 200) }
        talk.server(500, ack: 200)
        talk.server(500, ack: 150)
        talk.finish()
        let answered = answer.isEmpty ? [] : ["s:Hi", "s.fin"]
        #expect(talk.story == ["1 handshake"] + answered + ["c-100", "1 end-of-input"])
    }

    /// What waits after the request does so for no longer than usual.
    @Test func aGapIsAcknowledgedOnceTheStartIsSettled() {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(500, "Hi", ack: 200)
        talk.client(200, "xyz", ack: 502)
        talk.advance(milliseconds: 1000)
        #expect(talk.story == ["1 handshake", "s:Hi"])
        talk.advance(milliseconds: 1000)
        #expect(talk.story == ["1 handshake", "s:Hi", "c-100", "c:xyz"])
    }

    /// A SYN-ACK that comes after it shows that it was of an older connection.
    @Test func anAcknowledgmentBeforeTheSYNACKShowsNothing() {
        var talk = Conversation()
        talk.client(99, "", .syn)
        talk.server(5_000, ack: 40_000)
        talk.server(199, "", .syn, ack: 100)
        talk.client(100, "Hello", ack: 200)
        talk.finish()
        #expect(talk.story == ["1 handshake", "c:Hello", "1 end-of-input"])
    }

    @Test func oneAheadMayBeAFINThatWasNotCaptured() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "Hello", ack: 200)
        talk.server(200, ack: 106)
        talk.finish()
        #expect(talk.story.prefix(2) == ["1 handshake", "c:Hello"] && !talk.story.contains("c-1"), "\(talk.story)")
    }

    @Test func aRSTThatNobodyAcknowledgedShowsNothing() {
        var talk = Conversation()
        talk.handshake()
        talk.client(100, "Hello", ack: 200)
        talk.client(600, "", .rst, ack: 200)
        talk.finish()
        #expect(!talk.story.contains { $0.hasPrefix("c-") }, "\(talk.story)")
    }

    @Test func bothFINsEndAConnectionThatWasPickedUpInTheMiddle() {
        var talk = Conversation()
        talk.server(5_000, "the rest", ack: 300)
        talk.client(300, "", .fin, ack: 5_008)
        talk.server(5_008, "", .fin, ack: 301)
        talk.client(301, ack: 5_009)
        talk.finish()
        #expect(talk.story.last == "1 fin by client", "\(talk.story)")
        #expect(!talk.story.contains { $0.hasPrefix("c-") || $0.hasPrefix("s-") }, "\(talk.story)")
    }

    /// Bytes dropped by a recorder are missing for a reader, wherever they were, and whatever the end.
    @Test func whatARecorderDroppedIsMissing() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var made = SyntheticConnection(number: 1, client: Conversation.client, server: Conversation.server)
            let log = StreamEventLog()
            var reassembler = TCPReassembler(receiver: log)
            var number = 0
            func take(_ kind: SyntheticPacket, _ bytes: RawSpan) {
                number += 1
                let time = Timestamp(nanoseconds: Int64(number) * 1_000_000)
                reassembler.advance(to: time)
                guard let segment = Self.segment(bytes) else { return }
                reassembler.receive(segment.header, payload: segment.payload.span.bytes, at: time, packet: number)
            }
            made.open(take)
            var (bytes, missing) = (
                PerDirection(fromClient: 0, fromServer: 0), PerDirection(fromClient: 0, fromServer: 0)
            )
            for _ in 0..<Int.random(in: 1..<12, using: &generator) {
                let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
                if Bool.random(using: &generator) {
                    let count = [2, 70_000, 1 << 30, 5 << 30].randomElement(using: &generator) ?? 2
                    made.dropped(count, from: direction, take)
                    missing[direction] += count
                } else {
                    made.data(([1, 2, 3] as [UInt8]).span.bytes, from: direction, take)
                    bytes[direction] += 3
                }
            }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0:
                made.finish(from: .fromClient, take)
                made.finish(from: .fromServer, take)
            case 1: made.reset(from: .fromServer, take)
            default: break
            }
            reassembler.finish()
            for direction in Direction.allCases {
                let found = log.events.reduce(0) { sum, event in
                    if case .missing(_, direction, let count, _) = event { sum + count } else { sum }
                }
                #expect(found == missing[direction], "seed \(seed)")
                #expect(log.bytes(of: 1, from: direction).count == bytes[direction], "seed \(seed)")
            }
        }
    }

    private static func segment(_ packet: RawSpan) -> (header: TCPSegment, payload: [UInt8])? {
        let wire = WirePacket(
            (0..<packet.byteCount).map { packet.unsafeLoad(fromUncheckedByteOffset: $0, as: UInt8.self) })
        func endpoint(_ address: [UInt8], _ port: Int) -> Endpoint {
            Endpoint(IPAddress(v4: address.reduce(0) { $0 << 8 | UInt32($1) }), UInt16(port))
        }
        return (
            TCPSegment(
                source: endpoint(wire.source, wire.sourcePort),
                destination: endpoint(wire.destination, wire.destinationPort), sequence: wire.sequence,
                acknowledgment: wire.acknowledgment, flags: TCPFlags(rawValue: wire.flags), window: .max,
                windowScale: 7, payloadLength: wire.payload.count),
            wire.payload
        )
    }
}
