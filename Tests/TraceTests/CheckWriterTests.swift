import Streams
import Testing

@testable import Trace

/// What a check of a trace shows of its connections.
@Suite struct CheckWriterTests {
    /// Of a connection with two legs, the check sees the one that has what both sides sent. Findings name no leg.
    @Test(arguments: [CheckWriter.Form.junit, .github], [Leg.in, nil])
    func findingsAreShownOfConnectionsWithOneLegAndTwo(form: CheckWriter.Form, leg: Leg?) {
        let output = MemoryOutput()
        let writer = CheckWriter(to: output, form, source: "proxy", isFile: false, failing: CheckedKinds())
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        writer.opened(TracedConnection(Opening(number: 1, leg: leg, time: start, client: end, server: end)))
        writer.finding(
            Finding(
                kind: .heartbeatGap, severity: .warning, connection: 1, format: nil, from: .fromClient, time: start,
                message: "nothing for 3 s", data: []))
        writer.failed("order", "not as expected", on: 1, at: start)
        writer.summary(Summary())
        #expect(output.text.contains("nothing for 3 s") && output.text.contains("not as expected"), "\(output.text)")
    }
}
