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

    /// Of a connection with a fault in each frame, the first ones are listed, and how many more there are.
    @Test func theFirstFaultsOfAConnectionAreListed() throws {
        var report = CheckReport()
        report.opened(ConnectionLeg(1), "a → b", at: start)
        for number in 1...150 {
            let fault = CheckReport.Fault(kind: "order", text: "fault \(number).", isError: true, time: start)
            report.add(fault, to: ConnectionLeg(1))
        }
        let connection = try #require(report.connections.first)
        #expect(connection.faults.map(\.text) == (1...100).map { "fault \($0)." })
        #expect(connection.faultCount == 150)
        for text in [CheckJUnit.of(report, name: "t"), CheckGitHub.of(report, name: "t", isFile: false)] {
            #expect(text.contains("fault 100.") && !text.contains("fault 101.") && text.contains("and 50 more"))
        }
    }

    /// GitHub refuses the summary of a step that is too long: lines beyond a limit are counted.
    @Test func stepSummariesAreBounded() {
        let lines = [String](repeating: String(repeating: "x", count: 99), count: 2_000)
        let text = StepSummary.text(title: "title", "text", listing: lines, language: "text")
        #expect(text.utf8.count < StepSummary.limit + 200)
        // With its line feed, a line has 100 bytes.
        #expect(text.contains("\n… and \(2_000 - StepSummary.limit / 100) more lines\n"))
    }
}
