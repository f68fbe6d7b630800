import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// A deadline that passes leaves those of other connections pending.
@Suite struct NextDeadlineTests {
    @Test func eachConnectionsGapIsFoundInTime() throws {
        let output = MemoryOutput()
        let format = try FormatLoader.load(
            """
            format: talk
            framing: { rule: delimiter, end: "\\n" }
            body: text
            frame: { type: [{ when: body.text == "tick", is: tick }, { is: line }] }
            heartbeat: { when: type == "tick", from: client, every: 1 s, gap: 2 s }
            """, file: "talk")
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), analyses: [HeartbeatMonitor()],
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        func gaps() -> Int {
            decoder.flush()
            return String(decoding: output.bytes, as: UTF8.self).matches(of: /"event":"finding"/).count
        }
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connections = (1...2).map { number in
            let time = Timestamp(seconds: Int64(number), nanoseconds: 0)
            let connection = decoder.open(
                Opening(
                    number: number, time: time, client: Endpoint(loopback, UInt16(number)),
                    server: Endpoint(loopback, 9)))
            let bytes = Array("tick\n".utf8)
            connection.received(bytes.span.bytes, from: .fromClient, at: time, packet: number)
            return connection
        }
        decoder.advance(to: Timestamp(milliseconds: 3_500))
        let first = gaps()
        #expect(first > 0 && decoder.nextDeadline.map { $0 <= Timestamp(seconds: 4, nanoseconds: 0) } == true)
        decoder.advance(to: Timestamp(milliseconds: 4_500))
        #expect(gaps() == 2 * first && connections.count == 2)
    }
}

extension Timestamp {
    fileprivate init(milliseconds: Int64) { self.init(nanoseconds: milliseconds * 1_000_000) }
}
