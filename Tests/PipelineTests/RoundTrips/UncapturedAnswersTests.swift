import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Captures of one direction: what the other side answered is not known, and the acknowledgments show that there was something.
@Suite struct UncapturedAnswersTests {
    /// Which requests are found to be unanswered, in a client's packets alone.
    ///
    /// - Parameter acknowledged: how many bytes of the server each packet acknowledges.
    private func unanswered(_ acknowledged: [Int], handshake: Bool) throws -> [Int] {
        let format = try FormatLoader.load(
            """
            format: asking
            framing: { rule: fixed, size: 2 }
            header: [{ kind: { type: char } }, { id: { type: char } }]
            frame: { type: kind }
            pairs: [{ request: from == client, from: client, answer: from == server, by: order, within: 500 ms }]
            """, file: "asking")
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        var reassembler = TCPReassembler(options: reassembly, receiver: decoder)
        let client = Endpoint(IPAddress(v4: 0x0a00_0001), 40_000)
        let server = Endpoint(IPAddress(v4: 0x0a00_0002), 900)
        func send(_ payload: String, _ sequence: UInt32, _ acknowledgment: Int, _ flags: TCPFlags, at time: Int64) {
            let bytes = Array(payload.utf8)
            let segment = TCPSegment(
                source: client, destination: server, sequence: sequence,
                acknowledgment: UInt32(5_000 + acknowledgment), flags: flags, payloadLength: bytes.count)
            let now = Timestamp(nanoseconds: time * 1_000_000)
            reassembler.advance(to: now)
            reassembler.receive(segment, payload: bytes.span.bytes, at: now, packet: 1)
        }
        if handshake {
            send("", 999, 0, .syn, at: 0)
            send("", 1_000, 0, .ack, at: 1)
        }
        for (place, count) in acknowledged.enumerated() {
            send("a\(place)", UInt32(1_000 + 2 * place), count, .ack, at: Int64(1_000 * place + 10))
            // The answer is acknowledged alone.
            send(
                "", UInt32(1_002 + 2 * place), place + 1 < acknowledged.count ? acknowledged[place + 1] : count, .ack,
                at: Int64(1_000 * place + 50))
        }
        reassembler.finish()
        decoder.finish()
        return try traceLines(output.text).filter { $0.event == "finding" }.compactMap { line in
            line["kind"] == "unanswered" ? line.number("index", of: "data") : nil
        }
    }

    @Test(arguments: [true, false]) func requestsWhoseAnswersWereNotCapturedAreNotUnanswered(handshake: Bool) throws {
        #expect(try unanswered([0, 20, 40, 60, 60], handshake: handshake) == [3, 4])
        #expect(try unanswered([0, 0, 0, 0], handshake: handshake) == [0, 1, 2, 3])
        // One more may be a FIN, which is not a byte.
        #expect(try unanswered([0, 0, 1, 1], handshake: handshake) == [0, 1, 2, 3])
    }
}
