import Streams
import Testing

@testable import Framing
@testable import Trace

@Suite struct LiveStatusTests {
    private func at(_ milliseconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000) }

    private let connection = TracedConnection(
        Opening(
            number: 1, time: Timestamp(nanoseconds: 0), client: Endpoint(IPAddress(v4: 1), 1),
            server: Endpoint(IPAddress(v4: 2), 2)))

    @Test func itSaysWhatPasses() {
        let status = LiveStatus()
        #expect(status.look(at: at(0)))
        #expect(status.line(columns: 200) == "0 of 0 connections open, 0 frames/s, 0 B/s")
        for _ in 0..<3 { status.opened(connection) }
        status.closed(
            Closing(reason: .fin, by: nil, time: at(0)),
            counts: PerDirection(fromClient: ByteCounts(), fromServer: ByteCounts()), on: connection)
        let run = UnframedRun(
            offset: 0, bytes: [UInt8](repeating: 0, count: 3_000), time: at(0), reason: .noSync, detail: "")
        status.unframed(run, from: .fromClient, on: connection)
        let gap = Finding(
            kind: .heartbeatGap, severity: .warning, connection: 1, format: nil, from: .fromClient, time: at(0),
            message: "", data: [])
        var more = gap
        more.data = [Field("count", .integer(4))]
        for finding in [gap, more] { status.finding(finding) }
        status.missing(Gap(direction: .fromClient, offset: 0, byteCount: 1, time: at(0)), on: connection)
        // Counts are shown immediately; rates later.
        #expect(!status.look(at: at(499)))
        let text = "2 of 3 connections open, 0 frames/s, 0 B/s, 1 byte missing, 5 gaps"
        #expect(status.line(columns: 200) == text)
        #expect(status.look(at: at(2_000)))
        #expect(
            status.line(columns: 200, queue: 0.424, dropped: "7 packets dropped by the kernel")
                == "2 of 3 connections open, 0 frames/s, 1.5 kB/s, 7 packets dropped by the kernel, 1 byte missing, 5 gaps, queue 42 %"
        )
        #expect(status.look(at: at(3_000)))
        #expect(status.line(columns: 200) == text)
        // The clock was set back.
        #expect(status.look(at: at(1_000)))
    }

    @Test(arguments: 0..<60) func itFitsTheTerminal(columns: Int) {
        let text = LiveStatus().line(columns: columns)
        #expect(text.count <= max(0, columns - 1))
    }
}
