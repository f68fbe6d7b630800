import Framing
import Streams
import Testing

@testable import Trace

/// How findings are counted in a summary.
@Suite struct FindingCountTests {
    @Test(arguments: Finding.Kind.allCases) func theyHaveAPlural(kind: Finding.Kind) throws {
        var totals = Summary.Totals()
        totals.findings = [kind: 2]
        var summary = Summary()
        summary.formats = ["x": totals]
        let line = try #require(SummaryText.lines(summary).first)
        // The end of a gap is part of the gap.
        guard kind != .heartbeatResumed else { return }
        let counted = try #require(line.split(separator: ";").first?.split(separator: ", ").last)
        #expect(counted.hasPrefix("2 ") && counted.hasSuffix("s") && !counted.contains(" without "), "\(counted)")
    }

    @Test func oneThatStandsForOthersCountsAsMany() {
        func count(_ data: [Field]) -> Int {
            Finding(
                kind: .lateAnswer, severity: .info, connection: 1, format: nil, from: .fromServer,
                time: Timestamp(nanoseconds: 0), message: "", data: data
            ).occurrences
        }
        #expect(count([]) == 1 && count([Field("took", .number(7))]) == 1)
        #expect(count([Field("count", .integer(55))]) == 55 && count([Field("count", .integer(-1))]) == 1)
    }
}
