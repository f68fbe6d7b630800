import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Findings about bytes that the capture contains and the streams do not, and the effect of a long silence.
@Suite struct StreamFaultFindingTests {
    private func lines(_ story: (any ConnectionReceiver, Decoder, ChatBytes) throws -> Void) throws -> [TraceLine] {
        let chat = try ChatBytes()
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.automatic([chat.format])),
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connection = decoder.open(
            Opening(
                number: 1, time: Timestamp(nanoseconds: 0), client: Endpoint(loopback, 40_000),
                server: Endpoint(loopback, 9_000)))
        try story(connection, decoder, chat)
        connection.closed(Closing(reason: .fin, by: nil, time: Timestamp(nanoseconds: 0)))
        decoder.finish()
        return try traceLines(output.text)
    }

    @Test func findingsShowBothVersionsAndTheirPlace() throws {
        let zero = Timestamp(nanoseconds: 0)
        let lines = try lines { connection, _, chat in
            // Before the format is known; then after it.
            connection.noticed(
                .conflict(offset: 10, kept: [1, 2, 3, 4], other: [1, 9, 3, 8]), from: .fromClient, at: zero, packet: 7)
            let message = try chat.message("txt", [1, 2])
            connection.received(message.span.bytes, from: .fromClient, at: zero, packet: 8)
            connection.received(message.span.bytes, from: .fromClient, at: zero, packet: 8)
            connection.noticed(
                .late(offset: 5, bytes: [UInt8](repeating: 0xab, count: 300)), from: .fromServer, at: zero, packet: 9)
            connection.noticed(.late(offset: -2, bytes: [1, 2]), from: .fromServer, at: zero, packet: 10)
            connection.noticed(.afterEnd(offset: 40, byteCount: 1), from: .fromClient, at: zero, packet: 11)
            connection.noticed(.stray(offset: 9_000_000, byteCount: 2), from: .fromClient, at: zero, packet: 12)
        }
        let findings = lines.filter { $0.event == "finding" }.map(\.text)
        let expected = [
            #""kind":"conflict","severity":"warning","message":"3 bytes at offset 11 were retransmitted with different content","#
                + #""data":{"offset":11,"length":3,"packet":7,"kept":"020304","other":"090308"}}"#,
            #""kind":"late-data","severity":"warning","message":"300 bytes at offset 5 arrived after they were declared "#
                + #"missing","data":{"offset":5,"length":300,"packet":9,"hex":""#
                + String(repeating: "ab", count: 256) + #""}}"#,
            #""kind":"late-data","severity":"info","message":"2 bytes arrived late, before the first byte of the "#
                + #"stream","data":{"offset":-2,"length":2,"packet":10,"hex":"0102"}}"#,
            #""kind":"data-after-end","severity":"warning","message":"1 byte at offset 40, after the end of the "#
                + #"stream (FIN)","data":{"offset":40,"length":1,"packet":11}}"#,
            #""kind":"late-data","severity":"info","message":"2 bytes at offset 9000000, outside of the receiver's window "#
                + #"and never acknowledged","data":{"offset":9000000,"length":2,"packet":12}}"#,
        ]
        #expect(findings.count == expected.count)
        for (finding, end) in zip(findings, expected) { #expect(finding.hasSuffix(end), "\(finding)") }
        // All of them count for the format, and come after its line.
        #expect(lines.map(\.event).firstIndex(of: "format") ?? 9 < lines.map(\.event).firstIndex(of: "finding") ?? 0)
    }

    /// Whether the source reports it when the silence is over, or the next bytes show it.
    @Test(arguments: [true, false])
    func aLongSilenceEndsTheSearchForTheFormat(isReported: Bool) throws {
        let lines = try lines { connection, _, chat in
            let message = try chat.message("txt", [1, 2])
            connection.received(
                message.span.bytes.extracting(0..<20), from: .fromClient, at: Timestamp(nanoseconds: 0), packet: 1)
            let later = Timestamp(seconds: 3_601, nanoseconds: 0)
            if isReported { connection.noticed(.idle, from: .fromClient, at: later, packet: 0) }
            connection.received(message.span.bytes, from: .fromClient, at: later, packet: 2)
        }
        #expect(!lines.contains { $0.event == "format" })
        let unframed = lines.filter { $0.event == "unframed" }
        #expect(
            unframed.allSatisfy {
                $0["detail"] == "no known format in the first 20 bytes from the client and 0 from the server"
            })
    }
}
