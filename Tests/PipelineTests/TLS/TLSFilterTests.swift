import Analysis
import Pipeline
import Streams
import TLS
import Testing

/// Times, counts and findings of connections with TLS.
@Suite struct TLSFilterTests {
    /// Early data waits for the server's answer, and has been sent before it nevertheless.
    @Test func earlyDataHasItsOwnTime() throws {
        let capture = try TLSCapture("tls13-early-accepted")
        let result = capture.decrypted(capture.keyLog())
        func first(_ events: [StreamEvent]) -> (time: Timestamp, packet: Int)? {
            for case .received(2, .fromClient, _, let time, let packet) in events { return (time, packet) }
            return nil
        }
        let (sent, passed) = (try #require(first(capture.events)), try #require(first(result.events)))
        #expect(passed.time == sent.time && passed.packet == sent.packet)
        for direction in Direction.allCases {
            let times = result.events.compactMap { event -> Timestamp? in
                switch event {
                case .received(2, direction, _, let time, _), .missing(2, direction, _, let time),
                    .finished(2, direction, _, let time):
                    time
                default: nil
                }
            }
            #expect(times == times.sorted() && !times.isEmpty)
        }
    }

    /// The line comes with the certificate, or with the first plaintext.
    @Test(arguments: [
        ("chat-tls13", TLSFacts.Handshake(records: 1, bytes: 225), TLSFacts.Handshake(records: 4, bytes: 1_001)),
        ("tls13-psk", TLSFacts.Handshake(records: 3, bytes: 369), TLSFacts.Handshake(records: 4, bytes: 225)),
    ])
    func theHandshakeIsCounted(name: String, client: TLSFacts.Handshake, server: TLSFacts.Handshake) throws {
        let capture = try TLSCapture(name)
        let facts = try #require(capture.decrypted(capture.keyLog()).facts(of: 1).first)
        #expect(facts.handshake.fromClient == client && facts.handshake.fromServer == server)
    }

    /// Empty messages, four bytes each: what is wrong with them is said once.
    @Test func aFaultIsReportedOnce() throws {
        var capture = try TLSCapture("chat-tls13")
        let hello = try #require(
            capture.events.first { if case .received(1, .fromClient, _, _, _) = $0 { true } else { false } })
        guard case .received(_, _, _, let time, _) = hello else { return }
        let message: [UInt8] = [1, 0, 0, 0]
        let record: [UInt8] = [22, 3, 3, 0x40, 0] + Array(repeatElement(message, count: 4_096).joined())
        let opened = capture.events.filter { if case .opened(let it) = $0 { it.number == 1 } else { false } }
        capture.events =
            opened + [
                hello, .received(connection: 1, from: .fromClient, bytes: record, time: time, packet: 2),
                .received(connection: 1, from: .fromClient, bytes: record, time: time, packet: 3),
                .closed(connection: 1, Closing(reason: .endOfInput, by: nil, time: time)),
            ]
        #expect(capture.decrypted(KeyLog()).faults(of: 1) == ["not decrypted: a malformed ClientHello"])
    }

    /// Acknowledgments count the bytes on the wire: decryption changes no round trip of TCP.
    @Test(arguments: ["chat-tls13", "chat-tls12-gcm", "tls13-early-accepted"])
    func roundTripsAreThoseOfTheWire(name: String) throws {
        let capture = try TLSCapture(name)
        func times(_ tls: TLSDecoding?) throws -> TCPRoundTrips.Times {
            var options = DecodingOptions(.automatic([]))
            options.tls = tls
            let trips = TCPRoundTrips(most: 10)
            let decoder = Decoder(options, analyses: [trips], sinks: [])
            try capture.play(to: decoder)
            decoder.finish()
            return try #require(trips.times(of: 1))
        }
        var decoding = TLSDecoding()
        decoding.keyLog = capture.keyLog()
        let (wire, decrypted) = (try times(nil), try times(decoding))
        for direction in Direction.allCases {
            let (expected, found) = (wire.acknowledgments[direction], decrypted.acknowledgments[direction])
            #expect(expected.count > 0 && found.count == expected.count)
            #expect(found.minimum == expected.minimum && found.maximum == expected.maximum)
        }
    }
}
